// What pages show, beside what other tests say of them.
#include "aggregator/probes/pages/numbers.h"
#include "tests/aggregator/probes/site_fixture.h"

namespace fieldcost::probe_server {
namespace {

using ::testing::AllOf;
using testing::BatchOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PageTest : public SiteTest {
 protected:
  const std::string token_ = AddDeviceOf(alice_);
};

TEST(NumbersTest, ADurationHasFourDigits) {
  EXPECT_EQ(DurationText(std::uint64_t{12'345'678}), "12.35 ms");
}

TEST(NumbersTest, ATimeIsOfUtc) {
  EXPECT_EQ(TimeText(testing::kEventDayNs + 42'000'000), "2026-11-23 00:00:00.042 UTC");
}

TEST_F(PageTest, AnEmptyServerSaysHowSomethingComes) {
  EXPECT_THAT(Get("/", LogIn()).body, HasSubstr("fieldcost probe login"));
}

TEST_F(PageTest, LabelsLeadToTheirEvents) {
  SendBatch(token_, BatchOf(1, {.label = "index open"}));
  EXPECT_THAT(Get("/", LogIn()).body, HasSubstr("/events?label=index%20open"));
}

TEST_F(PageTest, AStepHasItsEndsItsPlaceAndItsStack) {
  SendBatch(token_, BatchOf(1, {.step_ns = 1'500'000}));
  const std::string page = Get("/events/" + testing::EventOf({}).Hex() + "/steps/2", LogIn()).body;
  EXPECT_THAT(page, AllOf(HasSubstr("From: step 1"), HasSubstr("To: step 2"), HasSubstr("1.500 ms"),
                          HasSubstr("src/index.cc:12"), HasSubstr("src/main.cc:3"),
                          HasSubstr("<td>main</td>"), HasSubstr("<dt>Thread</dt><dd>7</dd>")));
}

TEST_F(PageTest, EverySegmentOfABarIsInTheTable) {
  SendBatch(token_, BatchOf(1, {.steps = 5}));
  const std::string id = testing::EventOf({}).Hex();
  const std::string page = Get("/compare?id=" + id, LogIn()).body;
  for (int hit = 1; hit <= 5; ++hit) {
    const std::string link = "/events/" + id + "/steps/" + std::to_string(hit) + "\"";
    const std::size_t first = page.find(link);
    EXPECT_NE(first, std::string::npos) << hit;
    EXPECT_NE(page.find(link, first + 1), std::string::npos) << hit;
  }
}

// The labels of events with the newest event first, whichever has the most; a click shows its last
// runs as bars.
TEST_F(PageTest, ListsLabelsNewestFirstEachWithALinkToItsLastRuns) {
  const auto at = [](std::uint64_t hour) {
    return testing::kEventDayNs + hour * 3'600'000'000'000;
  };
  std::uint64_t run = 0;
  for (std::uint64_t hour = 1; hour <= 14; ++hour) {
    ++run;
    SendBatch(token_, BatchOf(run, {.run = run, .begin_ns = at(hour), .label = "often"}));
  }
  SendBatch(token_, BatchOf(15, {.run = 15, .begin_ns = at(20), .label = "newest"}));
  SendBatch(token_, BatchOf(16, {.run = 16, .begin_ns = at(0), .label = "oldest"}));
  const std::string session = LogIn();
  const std::string labels = Get("/", session).body;
  const auto place = [&](const std::string& label) {
    return labels.find("<a href=\"/compare?label=" + label + "\"");
  };
  ASSERT_NE(place("oldest"), std::string::npos);
  EXPECT_LT(place("newest"), place("often"));
  EXPECT_LT(place("often"), place("oldest"));
  const std::string bars = Get("/compare?label=often", session).body;
  for (std::uint64_t number = 1; number <= 14; ++number) {
    const std::string link = "/events/" + (probe::EventId{number, 1}).Hex() + "/steps/1\"";
    EXPECT_EQ(bars.find(link) != std::string::npos, number > 2) << number;
  }
}

// A number that stands in a bar is worth nothing without its name.
TEST_F(PageTest, BarsHaveTheNamesOfTheirStepsAndALegendAboveThem) {
  probe::Batch sent = BatchOf(1, {});
  sent.sites[1].label = "a step with a <name> that is too long for a segment of this bar";
  SendBatch(token_, sent);
  const std::string id = testing::EventOf({}).Hex();
  for (const std::string& target : {"/events/" + id, "/compare?id=" + id}) {
    const std::string page = Get(target, LogIn()).body;
    const std::size_t legend = page.find("<ul class=\"legend\"");
    const std::size_t chart = page.find("<svg class=\"chart\"");
    ASSERT_NE(legend, std::string::npos) << target;
    EXPECT_LT(legend, chart) << target;
    const std::string names = page.substr(legend, chart - legend);
    EXPECT_THAT(names,
                AllOf(HasSubstr("</svg> 1. a step with a &lt;name&gt; that is too long"),
                      HasSubstr("</svg> 2. step 2</li>"), HasSubstr("</svg> 3. step 3</li>")));
    const std::string bars = page.substr(chart, page.find("</svg>\n", chart) - chart);
    EXPECT_THAT(bars, AllOf(HasSubstr("aria-hidden=\"true\">1</text>"),
                            HasSubstr("aria-hidden=\"true\">2. step 2</text>")));
  }
}

TEST_F(PageTest, VeryManyStepsAreSummedButForTheLongest) {
  SendBatch(token_, BatchOf(1, {.step_ns = 1'000, .steps = 300}));
  const std::string id = testing::EventOf({}).Hex();
  const std::string page = Get("/compare?id=" + id, LogIn()).body;
  EXPECT_THAT(page, HasSubstr("and 260 others"));
  EXPECT_THAT(page, HasSubstr("300.0 µs"));
  EXPECT_EQ(Get("/events/" + id, LogIn()).status, 200);
}

TEST_F(PageTest, MoreThanTwelveAreNotComparedAndNoneNeither) {
  const std::string session = LogIn();
  std::string target = "/compare?";
  for (std::uint64_t run = 1; run <= 13; ++run)
    target += "id=" + (probe::EventId{run, 1}).Hex() + "&";
  EXPECT_THAT(Get(target, session).body, HasSubstr("13 events were chosen; at most 12"));
  EXPECT_THAT(Get("/compare", session).body, HasSubstr("no event was chosen"));
}

TEST_F(PageTest, AnEventThatIsNotOverIsSetAside) {
  SendBatch(token_, BatchOf(1, {.is_over = false}));
  EXPECT_THAT(Get("/events?aside=show", LogIn()).body, HasSubstr("not over"));
}

// In the list, on the pages of the event, of its label's history and of a comparison of groups.
TEST_F(PageTest, EachPageOfEventsReportsLostPoints) {
  SendBatch(token_, BatchOf(1, {.run = 1, .lost_hits = 4'000}));
  SendBatch(token_, BatchOf(2, {.run = 2, .build = "1.1"}));
  const std::string session = LogIn();
  EXPECT_THAT(Get("/events", session).body, HasSubstr("4,000"));
  const auto event = [&](std::uint64_t run) {
    return Get("/events/" + testing::EventOf({.run = run}).Hex(), session).body;
  };
  EXPECT_THAT(event(1), HasSubstr("<dt>Lost in its run</dt><dd>4,000 points; whole events may be"));
  EXPECT_THAT(event(2), Not(HasSubstr("Lost in its run")));
  EXPECT_THAT(Get("/history?label=index_open", session).body,
              HasSubstr("4,000 points were lost in the runs of these events"));
  EXPECT_THAT(Get("/compare?label=index_open&base_build=1.0&new_build=1.1", session).body,
              HasSubstr("4000 points were lost in 1 of 1 runs"));
}

TEST_F(PageTest, DevicesAreListedAndOnlyTheirUsersSeeThem) {
  AddUserNamed("bob");
  EXPECT_THAT(Get("/account", LogIn()).body, HasSubstr("Revoke laptop"));
  EXPECT_THAT(Get("/account", LogIn("bob")).body, Not(HasSubstr("laptop")));
}

TEST_F(PageTest, DevicesSeeNoPages) {
  EXPECT_EQ(Send(WithToken({.target = "/"}, token_)).status, 303);
}

TEST_F(PageTest, AllDrawingsHaveWordsAndATable) {
  SendBatch(token_, BatchOf(1, {}));
  const std::string session = LogIn();
  const std::string id = testing::EventOf({}).Hex();
  for (const std::string& target :
       {"/compare?id=" + id, "/events/" + id, std::string("/history?label=index_open")}) {
    EXPECT_THAT(Get(target, session).body,
                AllOf(HasSubstr("<svg class=\"chart\""), HasSubstr("<title>"), HasSubstr("<desc>"),
                      HasSubstr("<caption>")))
        << target;
  }
}

}  // namespace
}  // namespace fieldcost::probe_server

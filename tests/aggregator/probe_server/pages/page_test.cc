// Page contents that no other test covers.
#include <algorithm>
#include <array>
#include <cmath>

#include "aggregator/probe_server/pages/bars_svg.h"
#include "aggregator/probe_server/pages/history_svg.h"
#include "aggregator/probe_server/pages/page_numbers.h"
#include "tests/aggregator/probe_server/site_fixture.h"

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

TEST(NumbersTest, FormatsTimesInUtc) {
  EXPECT_EQ(TimeText(testing::kEventDayNs + 42'000'000), "2026-11-23 00:00:00.042 UTC");
}

TEST(NumbersTest, ATickIsARoundTime) {
  const auto ticks = [](double most) {
    std::string text;
    const double step = TickStep(most);
    for (double value = step; value < most + step; value += step) text += TickText(value) + " ";
    return text;
  };
  EXPECT_EQ(ticks(168.7e6), "50 ms 100 ms 150 ms 200 ms ");
  EXPECT_EQ(ticks(1), "1 ns ");
  EXPECT_EQ(ticks(999), "200 ns 400 ns 600 ns 800 ns 1 µs ");
  EXPECT_EQ(ticks(60e9), "20 s 40 s 1 min ");
  EXPECT_EQ(ticks(61e9), "30 s 1 min 1.5 min ");
  EXPECT_EQ(ticks(7200e9), "30 min 1 h 1.5 h 2 h ");
  EXPECT_EQ(TickText(0), "0");
}

TEST(NumbersTest, AChangeIsInPercent) {
  EXPECT_EQ(ChangeText(1.1), "+10 %");
  EXPECT_EQ(ChangeText(0.958), "-4.2 %");
  EXPECT_EQ(ChangeText(1.0004), "±0 %");
  EXPECT_EQ(ChangeText(3), "+200 %");
}

TEST(HistorySvgTest, ABuildHasAShortName) {
  EXPECT_EQ(ShortBuild(""), "(not named)");
  EXPECT_EQ(ShortBuild("1.21.0-rc1"), "1.21.0-rc1");
  EXPECT_EQ(ShortBuild("5b2a41490539cb9841078023bcc190dfcc792c47"), "5b2a4149");
  EXPECT_EQ(ShortBuild("release-2026-11-x86_64"), "releas…x86_64");
  EXPECT_EQ(ShortBuild("öffentlich-geprüft-größe"), "öffent…-größe");
}

// Matrices that simulate how a colour appears to viewers who lack one cone type (Machado et al.
// 2009); the first is normal vision. LabOf() returns lightness and two opponent colours (CIELAB).
using Matrix = std::array<std::array<double, 3>, 3>;
constexpr Matrix kSights[] = {
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868},
      {0.114503, 0.786281, 0.099216},
      {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968},
      {0.280085, 0.672501, 0.047413},
      {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779},
      {-0.078411, 0.930809, 0.147602},
      {0.004733, 0.691367, 0.303900}}},
};

std::array<double, 3> Times(const Matrix& matrix, const std::array<double, 3>& vector) {
  std::array<double, 3> product{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t i = 0; i < 3; ++i) product[row] += matrix[row][i] * vector[i];
  }
  return product;
}

std::array<double, 3> LinearOf(const StepColor& color) {
  std::array<double, 3> linear{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double value =
        std::stoi(std::string(color.fill).substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    linear[i] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return linear;
}

std::array<double, 3> LabOf(const StepColor& color, const Matrix& sight) {
  constexpr Matrix kXyz = {
      {{0.4339, 0.3762, 0.1899}, {0.2126, 0.7152, 0.0722}, {0.0177, 0.1095, 0.8728}}};
  std::array<double, 3> seen = Times(sight, LinearOf(color));
  for (double& value : seen) value = std::clamp(value, 0.0, 1.0);
  std::array<double, 3> part = Times(kXyz, seen);
  for (double& value : part) {
    value = value > 0.008856 ? std::cbrt(value) : 7.787 * value + 16.0 / 116;
  }
  return {116 * part[1] - 16, 500 * (part[0] - part[1]), 200 * (part[1] - part[2])};
}

TEST(BarsSvgTest, StepColorsDifferForColorBlindReadersAndNeighborsInPrintsWithoutColor) {
  const std::size_t count = std::size(kStepColors);
  for (std::size_t i = 0; i < count; ++i) {
    for (const Matrix& sight : kSights) {
      for (std::size_t j = 0; j < i; ++j) {
        const auto [a, b] = std::pair(LabOf(kStepColors[i], sight), LabOf(kStepColors[j], sight));
        EXPECT_GT(std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]), 15)
            << kStepColors[i].fill << " and " << kStepColors[j].fill;
      }
    }
    const double lightness = LabOf(kStepColors[i], kSights[0])[0];
    EXPECT_GT(std::abs(lightness - LabOf(kStepColors[(i + 1) % count], kSights[0])[0]), 6);
    // Contrast with a light page, with a dark one (#16181c), and of the text inside the bar.
    const double light = Times({{{0.2126, 0.7152, 0.0722}, {}, {}}}, LinearOf(kStepColors[i]))[0];
    EXPECT_GT(1.05 / (light + 0.05), 2.2) << kStepColors[i].fill;
    EXPECT_GT((light + 0.05) / 0.059, 3) << kStepColors[i].fill;
    EXPECT_GT(kStepColors[i].is_light ? (light + 0.05) / 0.0556 : 1.05 / (light + 0.05), 4.5);
  }
}

TEST_F(PageTest, AnEventHasAsManyStepsInTheListAsOnItsPage) {
  SendBatch(token_, BatchOf(1, {.steps = 5}));
  const std::string session = LogIn();
  EXPECT_THAT(Get("/events", session).body, HasSubstr("<td class=\"n\">5</td>"));
  const std::string page = Get("/events/" + IdOf(1), session).body;
  EXPECT_THAT(page, HasSubstr("</svg> 5. "));
  EXPECT_THAT(page, Not(HasSubstr("</svg> 6. ")));
}

TEST_F(PageTest, EventsSideBySideAreComparedWithTheOldest) {
  for (std::uint64_t run = 1; run <= 2; ++run) {
    SendBatch(token_, BatchOf(run, {.run = run,
                                    .begin_ns = testing::kEventDayNs + (3 - run) * 1'000'000'000,
                                    .step_ns = run * 1'000'000}));
  }
  const std::string session = LogIn();
  // Event 2 is the oldest, and thus the baseline, regardless of the order of selection.
  const std::string first = IdOf(1);
  const std::string second = IdOf(2);
  for (const std::string& target :
       {"/compare?id=" + first + "&id=" + second, "/compare?id=" + second + "&id=" + first,
        std::string("/compare?label=index_open")}) {
    EXPECT_THAT(Get(target, session).body,
                AllOf(HasSubstr("<caption>Time of each step; below it, its ratio to event 1, the "
                                "oldest (2026-11-23 00:00:01.000 UTC). A number leads to the step."
                                "</caption>"),
                      HasSubstr("3.000 ms<small>×\u00a00.50</small>")))
        << target;
  }
  EXPECT_THAT(Get("/compare?id=" + first, session).body,
              HasSubstr("<caption>Time of each step. A number leads to the step.</caption>"));
}

TEST_F(PageTest, AHistoryNamesItsBuildsHasRoundTicksAndAlwaysAChange) {
  for (std::uint64_t run = 1; run <= 4; ++run) {
    SendBatch(token_, BatchOf(run, {.run = run,
                                    .begin_ns = testing::kEventDayNs + run * 1'000'000'000,
                                    .step_ns = run < 3 ? 10'000'000U : 11'000'000U,
                                    .build = run < 3 ? "1.0" : "1.1"}));
  }
  const std::string page = Get("/history?label=index_open", LogIn()).body;
  EXPECT_THAT(page, AllOf(HasSubstr("text-anchor=\"end\">1.0</text>"),
                          HasSubstr("text-anchor=\"end\">1.1</text>"), HasSubstr(">10 ms</text>"),
                          HasSubstr(">40 ms</text>"), HasSubstr(">0</text>"),
                          HasSubstr("<td>+10 %, but too few events to be sure: at least ")));
  EXPECT_THAT(page, Not(HasSubstr(">1</text>")));
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
  const std::string page = Get("/events/" + IdOf(1) + "/steps/2", LogIn()).body;
  EXPECT_THAT(page, AllOf(HasSubstr("From: step 1"), HasSubstr("To: step 2"), HasSubstr("1.500 ms"),
                          HasSubstr("src/index.cc:12"), HasSubstr("src/main.cc:3"),
                          HasSubstr("<td>main</td>"), HasSubstr("<dt>Thread</dt><dd>7</dd>")));
}

TEST_F(PageTest, EverySegmentOfABarIsInTheTable) {
  SendBatch(token_, BatchOf(1, {.steps = 5}));
  const std::string id = IdOf(1);
  const std::string page = Get("/compare?id=" + id, LogIn()).body;
  for (int hit = 1; hit <= 5; ++hit) {
    const std::string link = "/events/" + id + "/steps/" + std::to_string(hit) + "\"";
    const std::size_t first = page.find(link);
    EXPECT_NE(first, std::string::npos) << hit;
    EXPECT_NE(page.find(link, first + 1), std::string::npos) << hit;
  }
}

// Lists labels by their newest event, not by event count; a click shows a label's last runs as
// bars.
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
    const std::string link = "/events/" + IdOf(number) + "/steps/1\"";
    EXPECT_EQ(bars.find(link) != std::string::npos, number > 2) << number;
  }
}

// A number inside a bar is meaningless without its name.
TEST_F(PageTest, BarsHaveTheNamesOfTheirStepsAndALegendAboveThem) {
  probe::Batch sent = BatchOf(1, {});
  sent.sites[1].label = "a step with a <name> that is too long for a segment of this bar";
  SendBatch(token_, sent);
  const std::string id = IdOf(1);
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
  const std::string id = IdOf(1);
  const std::string page = Get("/compare?id=" + id, LogIn()).body;
  EXPECT_THAT(page, HasSubstr("and 260 others"));
  EXPECT_THAT(page, HasSubstr("300.0 µs"));
  EXPECT_EQ(Get("/events/" + id, LogIn()).status, 200);
}

TEST_F(PageTest, MoreThanTwelveAreNotComparedAndNoneNeither) {
  const std::string session = LogIn();
  std::string target = "/compare?";
  for (std::uint64_t run = 1; run <= 13; ++run) target += "id=" + IdOf(run) + "&";
  EXPECT_THAT(Get(target, session).body, HasSubstr("13 events were chosen; at most 12"));
  EXPECT_THAT(Get("/compare", session).body, HasSubstr("no event was chosen"));
}

TEST_F(PageTest, AnEventThatIsNotOverIsSetAside) {
  SendBatch(token_, BatchOf(1, {.is_over = false}));
  EXPECT_THAT(Get("/events?aside=show", LogIn()).body, HasSubstr("not over"));
}

// In the list, on an event's page, in its label's history, and in a comparison of groups.
TEST_F(PageTest, EachPageOfEventsReportsLostPoints) {
  SendBatch(token_, BatchOf(1, {.run = 1, .lost_hits = 4'000}));
  SendBatch(token_, BatchOf(2, {.run = 2, .build = "1.1"}));
  const std::string session = LogIn();
  EXPECT_THAT(Get("/events", session).body, HasSubstr("4,000"));
  const auto event = [&](std::uint64_t run) { return Get("/events/" + IdOf(run), session).body; };
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
  const std::string id = IdOf(1);
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

// The API, and its agreement with the pages.
#include "aggregator/probe_server/pages/page_numbers.h"
#include "tests/aggregator/probe_server/site_fixture.h"

namespace fieldcost::probe_server {
namespace {

using testing::BatchOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kEventDayNs;
using ::testing::Not;

constexpr std::uint64_t kDayNs = 86'400'000'000'000;

class ApiTest : public SiteTest {
 protected:
  void Add(const testing::EventOptions& options) {
    EXPECT_EQ(SendBatch(token_, BatchOf(options.run, options)).status, 200);
  }
  // Returns the ids of runs, in the order of the response.
  std::vector<std::uint64_t> Runs(const std::string& query) {
    std::vector<std::uint64_t> runs;
    const auto answer = Api("/v1/events?" + query, token_);
    for (const auto& event : answer.at("events").as_array()) {
      runs.push_back(probe::EventKey::Parse(std::string(event.at("id").as_string()))->id.run);
    }
    return runs;
  }
  const std::string token_ = AddDeviceOf(alice_);
};

TEST_F(ApiTest, EventsComeNewestFirst) {
  for (const std::uint64_t run : {2U, 1U, 3U}) {
    Add({.run = run, .begin_ns = kEventDayNs + run * 1'000});
  }
  EXPECT_THAT(Runs(""), ElementsAre(3, 2, 1));
}

TEST_F(ApiTest, EachFilterKeepsMatchingEvents) {
  clock_.Advance(std::chrono::days(3));
  Add({.run = 1, .label = "a", .build = "1", .tags = {"cold"}});
  Add({.run = 2, .begin_ns = kEventDayNs + kDayNs, .label = "a", .build = "2", .tags = {"warm"}});
  Add({.run = 3, .begin_ns = kEventDayNs + 2 * kDayNs, .label = "b", .build = "2"});
  EXPECT_THAT(Runs("label=a"), ElementsAre(2, 1));
  EXPECT_THAT(Runs("build=2"), ElementsAre(3, 2));
  EXPECT_THAT(Runs("tag=cold"), ElementsAre(1));
  EXPECT_THAT(Runs("user=alice"), ElementsAre(3, 2, 1));
  EXPECT_THAT(Runs("from=2026-11-24"), ElementsAre(3, 2));
  EXPECT_THAT(Runs("to=2026-11-24"), ElementsAre(2, 1));
  EXPECT_THAT(Runs("from=2026-11-24&to=2026-11-24"), ElementsAre(2));
  EXPECT_THAT(Runs("label=a&build=2&tag=warm"), ElementsAre(2));
  EXPECT_THAT(Runs("label=c"), ElementsAre());
}

TEST_F(ApiTest, PagesOfAListHaveEachEventOnce) {
  for (std::uint64_t run = 1; run <= 7; ++run) {
    Add({.run = run, .begin_ns = kEventDayNs + (run / 3) * 1'000});
  }
  std::vector<std::uint64_t> runs;
  std::string cursor;
  for (int pages = 0; pages < 10; ++pages) {
    const auto answer = Api("/v1/events?limit=2" + cursor, token_);
    for (const auto& event : answer.at("events").as_array()) {
      runs.push_back(probe::EventKey::Parse(std::string(event.at("id").as_string()))->id.run);
    }
    const auto* next = answer.as_object().if_contains("next");
    if (next == nullptr) break;
    cursor = "&cursor=" + std::string(next->as_string());
  }
  EXPECT_THAT(runs, ElementsAre(7, 6, 5, 4, 3, 2, 1));
}

TEST_F(ApiTest, AnEventHasItsPointsStacksAndSteps) {
  Add({.run = 1, .steps = 2});
  const auto event = Api("/v1/events/" + IdOf(1), token_);
  EXPECT_EQ(event.at("total_ns").as_int64(), 2'000'000);
  EXPECT_EQ(event.at("begin_ns").as_string(), std::to_string(kEventDayNs));
  ASSERT_EQ(event.at("points").as_array().size(), 3U);
  const auto& point = event.at("points").as_array()[1];
  EXPECT_EQ(point.at("file").as_string(), "src/index.cc");
  EXPECT_EQ(point.at("line").as_int64(), 11);
  EXPECT_EQ(point.at("stack").as_array()[1].at("function").as_string(), "main");
  ASSERT_EQ(event.at("steps").as_array().size(), 2U);
  EXPECT_EQ(event.at("steps").as_array()[1].at("name").as_string(), "step 2");
  EXPECT_EQ(event.at("steps").as_array()[1].at("ns").as_int64(), 1'000'000);
}

TEST_F(ApiTest, PagesShowTheNumbersOfTheApi) {
  Add({.run = 1, .step_ns = 1'234'567, .steps = 2});
  Add({.run = 2, .step_ns = 2'345'678, .steps = 2});
  const std::string ids = IdOf(1) + "," + IdOf(2);
  const auto compared = Api("/v1/compare?ids=" + ids, token_);
  const std::string session = LogIn();
  const std::string page = Get("/compare?id=" + IdOf(1) + "&id=" + IdOf(2), session).body;
  for (const auto& column : compared.at("ns").as_array()) {
    for (const auto& ns : column.as_array()) {
      EXPECT_THAT(
          page, HasSubstr(">" + DurationText(static_cast<std::uint64_t>(ns.as_int64())) + "</a>"));
    }
  }
  EXPECT_THAT(page, HasSubstr("×\u00a01.90"));
}

TEST_F(ApiTest, GroupsAreComparedByTag) {
  std::string ids;
  for (std::uint64_t run = 1; run <= 12; ++run) {
    const bool cold = run <= 6;
    Add({.run = run,
         .begin_ns = kEventDayNs + run * 1'000,
         .step_ns = (cold ? 4'000'000 : 1'000'000) + run * 10'000,
         .tags = {cold ? "cold" : "warm"}});
    ids += (ids.empty() ? "" : ",") + IdOf(run);
  }
  const auto answer = Api("/v1/compare?base=warm&new=cold&ids=" + ids, token_);
  EXPECT_EQ(answer.at("total").at("change").as_string(), "more");
  EXPECT_NEAR(answer.at("total").at("ratio").as_double(), 3.7, 0.1);
  const auto few = Api("/v1/compare?base=warm&new=cold&ids=" + IdOf(1) + "," + IdOf(7), token_);
  EXPECT_EQ(few.at("total").at("change").as_string(), "too_little_data");
  std::string target = "/compare?base=warm&new=cold";
  for (std::uint64_t run = 1; run <= 12; ++run) target += "&id=" + IdOf(run);
  const std::string page = Get(target, LogIn()).body;
  EXPECT_THAT(page, HasSubstr("cold against warm"));
  EXPECT_THAT(page, HasSubstr(">slower<"));
}

TEST_F(ApiTest, HistoryNamesTheBuildThatBecameSlower) {
  std::uint64_t run = 0;
  for (const auto& [build, step_ns] :
       {std::pair{"1.0", 1'000'000U}, {"1.1", 1'000'000U}, {"1.2", 1'500'000U}}) {
    for (int i = 0; i < 8; ++i) {
      ++run;
      Add({.run = run,
           .begin_ns = kEventDayNs + run * 1'000'000'000,
           .step_ns = step_ns + static_cast<std::uint64_t>(i) * 3'000,
           .build = build});
    }
  }
  const auto lines = Api("/v1/history?label=index_open", token_).at("lines").as_array();
  ASSERT_EQ(lines.size(), 1U);
  const auto builds = lines[0].at("builds").as_array();
  ASSERT_EQ(builds.size(), 3U);
  EXPECT_EQ(builds[1].at("change").at("change").as_string(), "none");
  EXPECT_EQ(builds[2].at("change").at("change").as_string(), "more");
  const std::string page = Get("/history?label=index_open", LogIn()).body;
  EXPECT_THAT(page, HasSubstr("▲ slower: +49 %, ×\u00a01.49"));
}

// The program is unchanged, but half of the base runs are warm and its new build has only cold
// runs.
TEST_F(ApiTest, HistoryNeverMixesTags) {
  std::uint64_t run = 0;
  const auto add = [&](const std::string& build, const std::vector<std::string>& tags,
                       std::uint32_t step_ns) {
    for (int i = 0; i < 8; ++i) {
      ++run;
      Add({.run = run,
           .begin_ns = kEventDayNs + run * 1'000'000'000,
           .step_ns = step_ns + static_cast<std::uint64_t>(i) * 3'000,
           .build = build,
           .tags = tags});
    }
  };
  add("1.0", {"warm"}, 1'000'000);
  add("1.0", {"cold"}, 3'000'000);
  add("1.1", {"cold"}, 3'000'000);
  const auto lines = Api("/v1/history?label=index_open", token_).at("lines").as_array();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].at("tags").at(0).as_string(), "cold");
  EXPECT_EQ(lines[0].at("builds").at(1).at("change").at("change").as_string(), "none");
  const auto cold = Api("/v1/history?label=index_open&tag=cold", token_).at("lines").as_array();
  EXPECT_EQ(cold.size(), 1U);
  const std::string page = Get("/history?label=index_open", LogIn()).body;
  EXPECT_THAT(page, HasSubstr("tags cold)</h2>"));
  EXPECT_THAT(page, Not(HasSubstr("slower:")));
}

TEST_F(ApiTest, GroupsOfALabelAreComparedLikeTheCommandDoes) {
  std::uint64_t run = 0;
  const auto add = [&](const std::string& build, const std::vector<std::string>& tags,
                       std::uint64_t step_ns) {
    for (std::uint64_t i = 0; i < 8; ++i) {
      ++run;
      Add({.run = run,
           .begin_ns = kEventDayNs + run * 1'000'000'000,
           .step_ns = step_ns + i * 3'000,
           .build = build,
           .tags = tags});
    }
  };
  add("1.0", {"warm"}, 1'000'000);
  add("1.0", {"cold"}, 3'000'000);
  add("1.1", {"cold"}, 6'000'000);
  const std::string builds = "label=index_open&base_build=1.0&new_build=1.1";
  const auto compared = Api("/v1/compare?" + builds, token_);
  ASSERT_EQ(compared.at("groups").as_array().size(), 1U);
  const auto& group = compared.at("groups").at(0);
  EXPECT_EQ(group.at("tags").at(0).as_string(), "cold");
  EXPECT_EQ(group.at("total").at("change").as_string(), "more");
  EXPECT_EQ(compared.at("left_out").at(0).at("tags").at(0).as_string(), "warm");
  const auto tags = Api("/v1/compare?label=index_open&base_tag=warm&new_tag=cold", token_);
  EXPECT_EQ(tags.at("groups").as_array().size(), 1U);
  const std::string session = LogIn();
  const std::string page = Get("/compare?" + builds, session).body;
  EXPECT_THAT(page, HasSubstr(">slower<"));
  EXPECT_THAT(page, HasSubstr("index_open (program editor, tags warm)"));
  // The list of labels links to each label's newest events.
  EXPECT_THAT(Get("/", session).body, HasSubstr("/compare?label=index_open"));
  EXPECT_THAT(Get("/compare?label=index_open", session).body, HasSubstr("Event 12"));
  EXPECT_EQ(
      Send(WithToken({.target = "/v1/compare?label=index_open&base_build=1.0&new_build=9"}, token_))
          .status,
      404);
}

TEST_F(ApiTest, EventsAreExportedForOtherPrograms) {
  Add({.run = 1, .steps = 2});
  const std::string ids = IdOf(1);
  const auto otlp = Api("/v1/export?format=otlp&ids=" + ids, token_);
  EXPECT_EQ(otlp.at("resourceSpans").as_array().size(), 1U);
  const auto chrome = Api("/v1/export?format=chrome&ids=" + ids, token_);
  EXPECT_FALSE(chrome.at("traceEvents").as_array().empty());
  EXPECT_EQ(Send(WithToken({.target = "/v1/export?format=xml&ids=" + ids}, token_)).status, 400);
}

TEST_F(ApiTest, KeepsMarksWithReasonAndAuthor) {
  Add({.run = 1});
  const std::string id = IdOf(1);
  const auto mark = [&](const std::string& body) {
    return Send(WithToken({.method = "POST", .target = "/v1/events/" + id + "/mark", .body = body},
                          token_))
        .status;
  };
  EXPECT_EQ(mark(R"({"mark":"set_aside","reason":"virus scanner"})"), 200);
  EXPECT_TRUE(Api("/v1/events/" + id, token_).at("is_set_aside").as_bool());
  EXPECT_THAT(Runs(""), ElementsAre());
  EXPECT_THAT(Runs("aside=show"), ElementsAre(1));
  EXPECT_EQ(mark(R"({"mark":"kept","reason":"it is real"})"), 200);
  EXPECT_THAT(Runs(""), ElementsAre(1));
  EXPECT_EQ(mark(R"({"mark":"nonsense"})"), 400);
  EXPECT_EQ(mark("[]"), 400);
  EXPECT_EQ(Count("SELECT count(*) FROM action WHERE user = 1 AND reason = 'virus scanner'"), 1U);
}

TEST_F(ApiTest, ADeviceChangesItsOwnUsersEventsOnly) {
  Add({.run = 1});
  const std::string bobs = AddDeviceOf(AddUserNamed("bob"));
  const std::string id = IdOf(1);
  EXPECT_EQ(Send(WithToken({.method = "POST",
                            .target = "/v1/events/" + id + "/mark",
                            .body = R"({"mark":"set_aside"})"},
                           bobs))
                .status,
            403);
  EXPECT_EQ(
      Send(WithToken(
               {.method = "POST", .target = "/v1/purge", .body = R"({"ids":[")" + id + R"("]})"},
               bobs))
          .status,
      403);
  EXPECT_THAT(Runs(""), ElementsAre(1));
}

TEST_F(ApiTest, RefusesInvalidQueriesByName) {
  const std::string id = IdOf(1);
  std::string thirteen = "/v1/compare?ids=";
  for (std::uint64_t run = 1; run <= 13; ++run) thirteen += IdOf(run) + ",";
  for (const std::string& target :
       {std::string("/v1/events?from=yesterday"), std::string("/v1/events?from=2026-02-30"),
        std::string("/v1/events?to=1969-01-01"), std::string("/v1/events?cursor=1"),
        std::string("/v1/events?cursor=-1.2"), std::string("/v1/events?limit=0"),
        std::string("/v1/events?limit=501"), std::string("/v1/events?label=%ff"),
        std::string("/v1/events?label=%0a"), std::string("/v1/events?label=%zz"),
        std::string("/v1/events/xyz"), std::string("/v1/compare"), std::string("/v1/compare?ids=x"),
        std::string("/v1/history"), thirteen, std::string("/v1/history?label=a&tags=cold"),
        std::string("/v1/events?lable=a"), std::string("/v1/export?format=otlp&tag=a&ids=") + id,
        "/v1/events?label=%e2%80%ae" + id}) {
    EXPECT_EQ(Send(WithToken({.target = target}, token_)).status, 400) << target;
  }
  EXPECT_EQ(Send(WithToken({.target = "/v1/events/" + id}, token_)).status, 404);
  EXPECT_EQ(Send(WithToken({.target = "/v1/compare?ids=" + id}, token_)).status, 404);
  EXPECT_EQ(Send(WithToken({.method = "DELETE", .target = "/v1/events/" + id}, token_)).status,
            405);
  EXPECT_EQ(Send(WithToken({.target = "/v1/nowhere"}, token_)).status, 404);
}

TEST_F(ApiTest, QueryTextIsNeverRunAsSql) {
  Add({.run = 1, .label = "a"});
  for (const char* text : {"'", "';DROP TABLE event;--", "a' OR '1'='1", "%25", "_"}) {
    EXPECT_THAT(Runs("label=" + EncodeLinkPart(text)), ElementsAre()) << text;
    EXPECT_THAT(Runs("tag=" + EncodeLinkPart(text)), ElementsAre()) << text;
    EXPECT_THAT(Runs("user=" + EncodeLinkPart(text)), ElementsAre()) << text;
  }
  EXPECT_THAT(Runs("label=a"), ElementsAre(1));
}

}  // namespace
}  // namespace fieldcost::probe_server

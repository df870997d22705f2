// The JSON that commands and the server's API have in common; scripts rely on each name.
#include "common/probe/events_json.h"

#include <gtest/gtest.h>

#include "common/json/json_text.h"

namespace fieldcost::probe {
namespace {

std::string Text(const boost::json::value& value) { return JsonText(value); }

TEST(EventsJsonTest, AStackIsAListOfFrames) {
  EXPECT_EQ(Text(StackJson(std::vector<Frame>{{"open", "app", "a.c", 7}, {}})),
            R"([{"function":"open","module":"app","file":"a.c","line":7},)"
            R"({"function":"","module":"","file":"","line":0}])");
}

TEST(EventsJsonTest, AChangeHasItsNumbersAndItsName) {
  const StepChange slower{.name = "open → read",
                          .base_events = 5,
                          .new_events = 6,
                          .base_ns = 10,
                          .new_ns = 20,
                          .ratio = 2,
                          .ratio_low = 1,
                          .ratio_high = 4,
                          .p = 0,
                          .q = 1,
                          .change = inference::Verdict::kMore};
  EXPECT_EQ(Text(ChangeJson(slower)),
            R"({"name":"open → read","base_events":5,"new_events":6,"base_ns":10,"new_ns":20,)"
            R"("ratio":2,"ratio_low":1,"ratio_high":4,"p":0,"q":1,"change":"more"})");
  const boost::json::array changes = ChangesJson(std::vector<StepChange>{slower, {.name = "few"}});
  EXPECT_EQ(changes.at(0), ChangeJson(slower));
  EXPECT_EQ(changes.at(1).at("change").as_string(), "too_little_data");
}

TEST(EventsJsonTest, LeftOutGroupsNameTheirSide) {
  const GroupKey key{.label = "open", .program = "app", .tags = {"cold", "disk"}};
  const std::vector<LeftOutGroup> groups = {{key, true, 3}, {{}, false, 1}};
  EXPECT_EQ(Text(GroupJson(key)), R"({"label":"open","program":"app","tags":["cold","disk"]})");
  EXPECT_EQ(Text(LeftOutJson(groups)),
            R"([{"label":"open","program":"app","tags":["cold","disk"],"side":"base","events":3},)"
            R"({"label":"","program":"","tags":[],"side":"new","events":1}])");
}

TEST(EventsJsonTest, TextsThatNoEventMayHaveAreEscapedOrReplaced) {
  EXPECT_EQ(Text(GroupJson({.label = "\xff\xff", .program = "a\x1b", .tags = {"\xc3"}})),
            R"({"label":"\ufffd\ufffd","program":"a\u001b","tags":["\ufffd"]})");
}

TEST(EventsJsonTest, ALineOfHistoryHasExactTimesAsText) {
  const HistoryLine line{.program = "app",
                         .tags = {"cold"},
                         .builds = {{.build = "v1",
                                     .first_ns = ~std::uint64_t{0},
                                     .events = 9,
                                     .median_ns = 3,
                                     .low_ns = 2,
                                     .high_ns = 4}}};
  EXPECT_EQ(Text(HistoryLinesJson(std::vector<HistoryLine>{line})),
            R"([{"program":"app","tags":["cold"],"builds":[{"build":"v1",)"
            R"("first_ns":"18446744073709551615","events":9,"median_ns":3,"low_ns":2,)"
            R"("high_ns":4,"change":)" +
                Text(ChangeJson({})) + "}]}]");
}

}  // namespace
}  // namespace fieldcost::probe

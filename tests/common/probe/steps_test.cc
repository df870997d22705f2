#include "common/probe/steps.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/probe/probe_limits.h"
#include "tests/common/probe/some_events.h"

namespace fieldcost::probe {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> NamesOf(const std::vector<Step>& steps) {
  std::vector<std::string> names;
  for (const Step& step : steps) names.push_back(step.name);
  return names;
}

Event EventOf(std::uint64_t number, const std::vector<std::string>& labels) {
  std::vector<SomeHit> hits = {{.label = "open", .kind = HitKind::kBegin}};
  for (const std::string& label : labels) hits.push_back({label, hits.back().at_ns + 10});
  return SomeEvent(number, hits);
}

std::vector<std::string> OrderOf(const std::vector<std::vector<std::string>>& events) {
  std::vector<Event> all;
  for (const auto& labels : events) all.push_back(EventOf(all.size(), labels));
  return Align(all).names;
}

TEST(StepsTest, AddUpToTheTimeFromTheFirstHitToTheLast) {
  const Event event = SomeEvent(1, {{"open", 0, HitKind::kBegin},
                                    {"read", 1'234'567'891},
                                    {"drawn", 1'234'567'892, HitKind::kPoint, 2},
                                    {"open", 3'000'000'001, HitKind::kEnd, 2}});
  const std::vector<Step> steps = StepsOf(event);
  EXPECT_THAT(NamesOf(steps), ElementsAre("read", "drawn", "end"));
  EXPECT_EQ(steps[0].ns, 1'234'567'891u);
  EXPECT_EQ(steps[1].ns, 1u);
  EXPECT_EQ(steps[0].ns + steps[1].ns + steps[2].ns, 3'000'000'001u);
  EXPECT_FALSE(steps[0].between_threads);
  EXPECT_TRUE(steps[1].between_threads);
  EXPECT_FALSE(steps[2].between_threads);
  EXPECT_EQ(steps[2].hit, 3u);
}

TEST(StepsTest, NeedTwoHits) {
  EXPECT_TRUE(StepsOf(SomeEvent(1, {})).empty());
  EXPECT_TRUE(StepsOf(SomeEvent(1, {{"open", 0}})).empty());
  EXPECT_TRUE(Align(std::vector<Event>{}).names.empty());
}

TEST(StepsTest, StepsAreNeverNegativeForAnyTimesOfHits) {
  const Event event = SomeEvent(1, {{"a", 100}, {"b", 50}, {"c", 120}});
  const std::vector<Step> steps = StepsOf(event);
  EXPECT_EQ(steps[0].ns, 0u);
  EXPECT_EQ(steps[1].ns, 20u);
}

TEST(StepsTest, AnotherProcessIsAnotherThreadEvenOfTheSameNumber) {
  const Event event = SomeEvent(1, {{"a", 0}, {"b", 5, HitKind::kJoin, 1, 2}});
  EXPECT_TRUE(StepsOf(event)[0].between_threads);
}

TEST(StepsTest, NamesAreUniqueForAnyLabels) {
  EXPECT_THAT(NamesOf(StepsOf(EventOf(1, {"a", "b", "a", "a #2", "a"}))),
              ElementsAre("a", "b", "a #2", "a #2 #2", "a #3"));
  EXPECT_THAT(NamesOf(StepsOf(EventOf(1, {"a #2", "a", "a"}))), ElementsAre("a #2", "a", "a #3"));
}

TEST(AlignTest, NamesStandInTheOrderInWhichMostEventsHaveThem) {
  EXPECT_THAT(OrderOf({{"a", "c", "b", "d"}, {"a", "b", "c", "d"}, {"a", "b", "c", "d"}}),
              ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(OrderOf({{"z", "a"}, {"a", "b", "z"}, {"a", "b", "z"}}), ElementsAre("a", "b", "z"));
}

TEST(AlignTest, PlacesStepsThatOnlySomeEventsHaveInOrder) {
  EXPECT_THAT(OrderOf({{"a", "d"}, {"a", "b", "d"}, {"a", "c", "d"}}),
              ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(OrderOf({{"x", "y"}, {"p", "q"}}), ElementsAre("x", "y", "p", "q"));
  EXPECT_THAT(OrderOf({{"a", "b"}, {"b", "a"}}), ElementsAre("a", "b"));
}

TEST(AlignTest, TimesStandInTheirColumnAndMissingOnesSaySo) {
  const std::vector<Event> events = {EventOfSteps(1, {10, 20, 30}), EventOfSteps(2, {11, 21})};
  const StepTable table = Align(events);
  EXPECT_THAT(table.names, ElementsAre("step 1", "step 2", "step 3"));
  EXPECT_THAT(table.ns, ElementsAre(ElementsAre(10, 20, 30), ElementsAre(11, 21, kNoStep)));
  EXPECT_EQ(table.names_left_out, 0u);
}

TEST(AlignTest, OfTooManyNamesThoseStayThatMostEventsHave) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < kMaxStepNames + 10; ++i) labels.push_back(fmt::format("l{}", i));
  const std::vector<Event> events = {EventOf(1, labels), EventOf(2, {labels.back()})};
  const StepTable table = Align(events);
  ASSERT_EQ(table.names.size(), kMaxStepNames);
  EXPECT_EQ(table.names_left_out, 10u);
  EXPECT_EQ(table.names.front(), "l0");
  EXPECT_EQ(table.names.back(), labels.back());
  EXPECT_EQ(table.names[kMaxStepNames - 2], fmt::format("l{}", kMaxStepNames - 2));
  EXPECT_EQ(table.ns[1].back(), 10u);
}

}  // namespace
}  // namespace fieldcost::probe

#include "common/probe/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/common/probe/some_events.h"

namespace fieldcost::probe {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMs = 1'000'000;

struct Kind {
  std::string program = "editor";
  std::vector<std::string> tags = {};
  std::uint64_t ms = 10;
  std::size_t count = 8;
  std::string label = "open";
};

// Events of several kinds, one run each.
class Events {
 public:
  GroupSide Side(const std::vector<Kind>& kinds) {
    GroupSide side;
    for (const Kind& kind : kinds) {
      for (std::size_t i = 0; i < kind.count; ++i) {
        Event event = EventOfSteps(++number_, {kind.ms * kMs + i * 1000, 5 * kMs});
        event.row.id.run = number_;
        event.row.program = kind.program;
        event.row.tags = kind.tags;
        event.row.label = kind.label;
        side.rows.push_back({event.row, false});
        events_.emplace(event.row.key(), event);
      }
    }
    side.load = [this](const EventKey& key) -> Result<Event> { return events_.at(key); };
    return side;
  }

 private:
  std::uint64_t number_ = 0;
  std::map<EventKey, Event> events_;
};

TEST(CompareGroupsTest, ComparesOnlyWhatBothSidesHaveAndNamesTheRest) {
  Events events;
  const auto base = events.Side({{.tags = {"cold"}, .ms = 60}, {.tags = {"warm"}, .ms = 20}});
  const auto changed = events.Side({{.tags = {"cold"}, .ms = 60}, {.program = "viewer", .ms = 99}});
  const auto compared = CompareGroups(base, changed, 0);
  ASSERT_TRUE(compared) << compared.error().message;
  ASSERT_EQ(compared->groups.size(), 1u);
  EXPECT_EQ(compared->groups[0].key.tags, std::vector<std::string>{"cold"});
  EXPECT_EQ(compared->groups[0].comparison.total.change, inference::Verdict::kNone);
  EXPECT_EQ(WorstOf(compared->groups), inference::Verdict::kNone);
  ASSERT_EQ(compared->left_out.size(), 2u);
  EXPECT_EQ(GroupText(compared->left_out[0].key), "open (program editor, tags warm)");
  EXPECT_TRUE(compared->left_out[0].is_of_base);
  EXPECT_EQ(GroupText(compared->left_out[1].key), "open (program viewer)");
  EXPECT_EQ(compared->left_out[1].events, 8u);
}

TEST(CompareGroupsTest, RefusesSidesThatHaveNothingInCommon) {
  Events events;
  const auto base = events.Side({{.tags = {"cold"}}});
  const auto changed = events.Side({{.tags = {"warm"}}, {.tags = {"cold", "disk"}}});
  const auto compared = CompareGroups(base, changed, 0);
  ASSERT_FALSE(compared);
  EXPECT_EQ(compared.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(compared.error().message, HasSubstr("open (program editor, tags cold); the other"));
  EXPECT_THAT(compared.error().message, HasSubstr("(program editor, tags cold, disk)"));
}

TEST(CompareGroupsTest, ComparesTagsAndProgramsThatBothSelectionsName) {
  Events events;
  auto base = events.Side({{.tags = {"cold", "ssd"}, .ms = 60}});
  auto changed = events.Side({{.program = "viewer", .tags = {"ssd", "warm"}, .ms = 20}});
  base.tags = {"cold"};
  EXPECT_FALSE(CompareGroups(base, changed, 0));
  changed.tags = {"warm"};
  EXPECT_FALSE(CompareGroups(base, changed, 0));  // the programs differ
  base.program = "editor";
  changed.program = "viewer";
  const auto compared = CompareGroups(base, changed, 0);
  ASSERT_TRUE(compared) << compared.error().message;
  EXPECT_EQ(GroupText(compared->groups[0].key), "open (tags ssd)");
  EXPECT_EQ(compared->groups[0].comparison.total.change, inference::Verdict::kLess);
}

// A tag named by one selection only must not make its tagged runs comparable with the other's
// untagged ones.
TEST(CompareGroupsTest, ATagThatOneSelectionNamesStaysPartOfTheKey) {
  Events events;
  auto base = events.Side({{.tags = {"cold"}}});
  base.tags = {"cold"};
  EXPECT_FALSE(CompareGroups(base, events.Side({{}}), 0));
  EXPECT_TRUE(CompareGroups(base, events.Side({{.tags = {"cold"}}, {}}), 0));
}

TEST(CompareGroupsTest, MainProgramsOfDifferentNamesCountAsOne) {
  Events events;
  const auto base = events.Side({{.program = "old"}, {.program = "old", .label = "old"}});
  auto changed = events.Side({{.program = "new"}, {.program = "new", .label = "new"}});
  for (SideRow& row : changed.rows) row.row.id.number = row.row.label == "new" ? 0 : 1;
  EXPECT_FALSE(CompareGroups(base, changed, 0));
  changed.replaced_program = "new";
  changed.as_program = "old";
  const GroupSide known = changed;
  changed.load = [&](const EventKey& key) { return known.load({0, {key.id.run, key.id.run}}); };
  const auto compared = CompareGroups(base, changed, 0);
  ASSERT_TRUE(compared) << compared.error().message;
  EXPECT_EQ(compared->groups.size(), 2u);
  EXPECT_TRUE(compared->left_out.empty());
}

TEST(CompareGroupsTest, CountsLostPointsOncePerRun) {
  Events events;
  auto base = events.Side({{}});
  for (SideRow& row : base.rows) row.row.id.run = 7;
  for (SideRow& row : base.rows) row.row.lost_hits = 30;
  base.rows.front().row.id.run = 8;
  base.rows.front().row.lost_hits = 0;
  const SideFacts facts = FactsOf(base.rows);
  EXPECT_EQ(facts.runs, 2u);
  EXPECT_EQ(facts.lost_runs, 1u);
  EXPECT_EQ(facts.lost_hits, 30u);
  EXPECT_EQ(facts.measured_runs, 0u);
}

TEST(CompareGroupsTest, ReportsSidesThatRanUnderDifferentLoad) {
  Events events;
  const auto waited = [&](std::uint64_t percent, std::size_t runs) {
    GroupSide side = events.Side({{.count = runs}});
    for (std::size_t i = 0; i < side.rows.size(); ++i) {
      side.rows[i].row.observed_ns = 1000 * kMs;
      side.rows[i].row.waited_ns = (percent * 10 + i) * kMs;
    }
    return side;
  };
  EXPECT_TRUE(CompareGroups(waited(5, 8), waited(30, 8), 0)->loads_differ);
  EXPECT_FALSE(CompareGroups(waited(5, 8), waited(6, 8), 0)->loads_differ);
  EXPECT_FALSE(CompareGroups(waited(5, 3), waited(12, 3), 0)->loads_differ);
  EXPECT_TRUE(CompareGroups(waited(5, 3), waited(30, 3), 0)->loads_differ);
  EXPECT_FALSE(CompareGroups(waited(5, 8), events.Side({{}}), 0)->loads_differ);
  EXPECT_NEAR(CompareGroups(waited(5, 8), waited(30, 8), 0)->changed.wait_share, 0.3, 0.01);
}

// Each run keeps a part of its events: a run with many must not displace the others.
TEST(CompareGroupsTest, UsesEquallyManyEventsOfEachRun) {
  Events events;
  GroupSide base = events.Side({{.count = 3000}});
  const GroupSide known = base;
  for (std::size_t i = 0; i < base.rows.size(); ++i) base.rows[i].row.id = {1 + i % 6, i};
  base.load = [&](const EventKey& key) {
    Result<Event> event = known.load(known.rows[key.id.number].row.key());
    event->row.id = key.id;
    return event;
  };
  const auto compared = CompareGroups(base, events.Side({{}}), 0);
  ASSERT_TRUE(compared) << compared.error().message;
  EXPECT_EQ(compared->groups[0].comparison.total.base_values, 6u);
  EXPECT_EQ(compared->groups[0].comparison.total.base_events, 1998u);
  EXPECT_EQ(compared->groups[0].older, 1002u);
}

// A colleague may claim the id of another user's run: its events and losses are still a separate
// run.
TEST(CompareGroupsTest, DistinguishesRunsOfTwoOwnersWithEqualIds) {
  const auto side = [](std::uint64_t ms) {
    GroupSide made;
    for (std::uint64_t i = 0; i < 12; ++i) {
      Event event = EventOfSteps(1, {ms * kMs + i * 1000, 5 * kMs});
      event.row.owner = 1 + i % 2;
      event.row.id.run = 1 + i / 2;
      event.row.lost_hits = 10 * event.row.owner;
      event.row.observed_ns = 1000 * kMs;
      made.rows.push_back({event.row, false});
    }
    made.load = [rows = made.rows, ms](const EventKey& key) -> Result<Event> {
      Event event = EventOfSteps(1, {ms * kMs, 5 * kMs});
      for (const SideRow& row : rows) {
        if (row.row.key() == key) event.row = row.row;
      }
      return event;
    };
    return made;
  };
  const auto compared = CompareGroups(side(20), side(20), 0);
  ASSERT_TRUE(compared) << compared.error().message;
  EXPECT_TRUE(compared->groups[0].comparison.by_run);
  EXPECT_EQ(compared->groups[0].comparison.total.base_values, 12u);
  EXPECT_EQ(compared->base.runs, 12u);
  EXPECT_EQ(compared->base.lost_hits, 180u);
  EXPECT_EQ(compared->base.measured_runs, 12u);
}

}  // namespace
}  // namespace fieldcost::probe

#include "common/tree/path.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

TEST(PathTableTest, EachPathIsThereOnceAndItsParentBeforeIt) {
  std::mt19937_64 random(7);
  PathTable table;
  std::map<std::pair<std::uint32_t, std::uint32_t>, PathId> slow;
  std::vector<std::size_t> depths = {0};
  for (int i = 0; i < 20'000; ++i) {
    const PathId parent(static_cast<std::uint32_t>(random() % table.size()));
    const FrameId frame(static_cast<std::uint32_t>(random() % 8));
    if (depths[parent.value()] == kMaxDepth) continue;
    const auto known = slow.find({parent.value(), frame.value()});
    EXPECT_EQ(table.Find(parent, frame),
              known == slow.end() ? std::nullopt : std::optional(known->second));
    const PathId id = table.Intern(parent, frame).value();
    if (known == slow.end()) {
      EXPECT_EQ(id.value(), depths.size());
      depths.push_back(depths[parent.value()] + 1);
      slow.emplace(std::pair(parent.value(), frame.value()), id);
    } else {
      EXPECT_EQ(id, known->second);
    }
    EXPECT_LT(parent, id);
    EXPECT_EQ(table.parent(id), parent);
    EXPECT_EQ(table.frame(id), frame);
    EXPECT_EQ(table.depth(id), depths[id.value()]);
    EXPECT_EQ(table.parents()[id.value()], parent.value());
    EXPECT_EQ(table.frames()[id.value()], frame.value());
  }
  EXPECT_EQ(table.size(), slow.size() + 1);
}

TEST(PathTableTest, ReservingChangesNothing) {
  PathTable table;
  const PathId a = table.Intern(kRootPath, FrameId(3)).value();
  table.Reserve(100'000);
  EXPECT_EQ(table.Find(kRootPath, FrameId(3)), a);
  EXPECT_EQ(table.Find(a, FrameId(3)), std::nullopt);
  EXPECT_EQ(table.size(), 2U);
}

TEST(PathTableTest, LimitsTheFramesOfAPath) {
  PathTable table;
  PathId path = kRootPath;
  for (std::size_t i = 0; i < kMaxDepth; ++i) path = table.Intern(path, FrameId(1)).value();
  EXPECT_EQ(table.depth(path), kMaxDepth);
  EXPECT_EQ(table.Intern(path, FrameId(1)).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(table.size(), kMaxDepth + 1);
  EXPECT_TRUE(table.Intern(table.parent(path), FrameId(2)).has_value());
}

TEST(PathTableTest, LimitsTheNumberOfPaths) {
  PathTable table;
  table.Reserve(kMaxPaths);
  for (std::uint32_t i = 1; i < kMaxPaths; ++i) {
    ASSERT_TRUE(table.Intern(kRootPath, FrameId(i)).has_value());
  }
  EXPECT_EQ(table.Intern(kRootPath, FrameId(0)).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(table.Intern(kRootPath, FrameId(7)).value(), PathId(7));  // known paths are still found
  EXPECT_EQ(table.size(), kMaxPaths);
}

TEST(PathTableTest, PathsThatAreNotThereMustNotBeAskedFor) {
  PathTable table;
  EXPECT_DEATH((void)table.Intern(PathId(1), FrameId(0)), "parent.value");
  EXPECT_DEATH(table.parent(kRootPath), "kRootPath");
  EXPECT_DEATH(table.frame(kRootPath), "kRootPath");
  EXPECT_DEATH(table.frame(PathId(1)), "id.value");
  EXPECT_DEATH(table.depth(PathId(1)), "id.value");
}

}  // namespace
}  // namespace fieldcost::tree

#include "common/tree/frame.h"

#include <gtest/gtest.h>

#include <random>

#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

Frame Function(std::string name) { return {.module = "libz.so", .function = std::move(name)}; }

TEST(FrameTableTest, EqualFramesHaveOneNumberAndOthersAnother) {
  FrameTable table;
  const std::vector<Frame> frames = {
      Function("deflate"),
      {.module = "libz.so", .function = "deflate", .file = "deflate.c"},
      {.module = "app", .function = "deflate"},
      {.kind = FrameKind::kUnnamed, .module = "app", .build_id = "\x01\x02", .offset = 16},
      {.kind = FrameKind::kUnnamed, .module = "app", .build_id = "\x01\x02", .offset = 32},
      {.kind = FrameKind::kUnnamed, .module = "app", .build_id = "\x01\x03", .offset = 16},
      {.kind = FrameKind::kUnnamed, .module = "app", .offset = 0},
      SpecialFrame(kKernel)};
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t i = 0; i < frames.size(); ++i) {
      EXPECT_EQ(table.Intern(frames[i]).value(), FrameId(i));
      EXPECT_EQ(table.Find(frames[i]), FrameId(i));
      EXPECT_EQ(table.frame(FrameId(i)), frames[i]);
    }
  }
  EXPECT_EQ(table.size(), frames.size());
  EXPECT_EQ(table.Find(Function("inflate")), std::nullopt);
}

TEST(FrameTableTest, ManyFramesKeepTheirNumbersAndPlaces) {
  FrameTable table;
  const Frame first = Function("f0");
  const Frame* place = &table.frame(table.Intern(first).value());
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    EXPECT_EQ(table.Intern(Function("f" + std::to_string(i))).value(), FrameId(i));
  }
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    EXPECT_EQ(table.Find(Function("f" + std::to_string(i))), FrameId(i));
  }
  EXPECT_EQ(place, &table.frame(FrameId(0)));
}

TEST(FrameTableTest, RefusesFramesInvalidForTheirKind) {
  FrameTable table;
  const std::vector<Frame> wrong = {
      {},                                                                 // no name
      {.function = "f", .build_id = "\x01"},                              // named, with a place
      {.function = "f", .offset = 1},                                     //
      {.kind = FrameKind::kUnnamed, .function = "f", .offset = 1},        // with a name
      {.kind = FrameKind::kUnnamed, .file = "f.c", .offset = 1},          //
      {.kind = FrameKind::kSpecial, .function = "kernel"},                // no brackets
      {.kind = FrameKind::kSpecial, .function = "[]"},                    //
      {.kind = FrameKind::kSpecial, .module = "a", .function = "[cut]"},  // a marker with a module
      {.kind = FrameKind::kSpecial, .function = "[cut]", .file = "f.c"},  //
      {.kind = FrameKind::kSpecial, .function = "[cut]", .offset = 1},    //
      {.kind = static_cast<FrameKind>(9), .function = "f"}};
  for (const Frame& frame : wrong) {
    EXPECT_EQ(table.Intern(frame).error().code, ErrorCode::kInvalidArgument) << frame.function;
  }
  EXPECT_EQ(table.size(), 0U);
}

TEST(FrameTableTest, NamesHaveALimit) {
  FrameTable table;
  EXPECT_TRUE(table.Intern(Function(std::string(kMaxNameBytes, 'f'))).has_value());
  for (const Frame& frame :
       {Function(std::string(kMaxNameBytes + 1, 'f')),
        Frame{.module = std::string(kMaxNameBytes + 1, 'm'), .function = "f"},
        Frame{.function = "f", .file = std::string(kMaxNameBytes + 1, 'c')},
        Frame{.kind = FrameKind::kUnnamed, .build_id = std::string(kMaxBuildIdBytes + 1, 'b')}}) {
    EXPECT_EQ(table.Intern(frame).error().code, ErrorCode::kTooLarge);
  }
}

TEST(FrameTableTest, AFullTableStillKnowsItsFrames) {
  FrameTable table(2);
  ASSERT_TRUE(table.Intern(Function("a")).has_value());
  ASSERT_TRUE(table.Intern(Function("b")).has_value());
  EXPECT_EQ(table.Intern(Function("c")).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(table.Intern(Function("b")).value(), FrameId(1));
}

TEST(FrameTableTest, AllNamesTogetherHaveALimit) {
  FrameTable table(10, 16);
  ASSERT_TRUE(table.Intern(Function("a")).has_value());  // 8 bytes, with "libz.so"
  ASSERT_TRUE(table.Intern(Function("b")).has_value());
  EXPECT_EQ(table.Intern({.function = "c"}).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(table.Intern(Function("b")).value(), FrameId(1));
}

TEST(FrameTableTest, FramesThatAreNotThereMustNotBeAskedFor) {
  FrameTable table;
  EXPECT_DEATH(table.frame(FrameId(0)), "id.value");
}

}  // namespace
}  // namespace fieldcost::tree

#include "tools/analysis/stack_tree.h"

#include <gmock/gmock.h>

#include "tools/analysis/check_report.h"
#include "tools/report/checked_tree.h"

namespace fieldcost::analysis {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A report that has flagged libz.so.1!deflate.
CheckReport Flagging() {
  CheckReport report;
  const auto add = [&](const char* symbol, stats::Verdict verdict) {
    CheckedApi api;
    api.key.api.soname = "libz.so.1";
    api.key.api.symbol = symbol;
    api.comparison.verdict = verdict;
    api.comparison.ratio = 2.5;
    api.comparison.q = 0.01;
    report.apis.push_back(api);
  };
  add("deflate", stats::Verdict::kWorse);
  add("inflate", stats::Verdict::kTooLittleData);
  add("crc32", stats::Verdict::kNormal);
  return report;
}

StackTree Tree(std::string_view folded) {
  StackTree tree;
  const Status added = AddFoldedStacks(folded, tree);
  EXPECT_TRUE(added.has_value()) << added.error().message;
  return tree;
}

std::string Text(std::string_view folded) {
  return report::CheckedTreeText(Tree(folded), Flagging(), "ns", {});
}

TEST(StackTreeTest, StacksAddUpInAnyOrder) {
  EXPECT_EQ(Text("a;b 1\na;b;c 2\na 3\r\n\nd 4"), Text("d 4\na;b;c 1\na 3\na;b;c 1\na;b 1\n"));
  EXPECT_THAT(
      Text("a;b 1\na;b;c 2\na 3\nd 4\n"),
      StartsWith("   TOTAL     SELF\n  60.0 %   30.0 %   a\n  30.0 %   10.0 %     b\n"
                 "  20.0 %   20.0 %       c\n  40.0 %   40.0 %   d\n10 ns in all; 0 of 1 "));
}

TEST(StackTreeTest, FlaggedFunctionsAreKnownByWhatProfilersCallThem) {
  const CheckReport report = Flagging();
  const report::FrameNames names(report);
  for (const char* name :
       {"deflate", "deflate+0x1f", "deflate_[j]", "deflate@plt", "libz.so.1!deflate",
        "libz.so.1.2.13!deflate", "/usr/lib/libz.so.1`deflate"}) {
    EXPECT_EQ(names.Find(name), report.apis.data()) << name;
  }
  for (const char* name : {"inflate", "crc32", "deflate2", "libz.so.12!deflate", "app!deflate", "",
                           "!", "[", "_[j]"}) {
    EXPECT_EQ(names.Find(name), nullptr) << name;
  }
}

TEST(StackTreeTest, FlaggedFunctionsOfCxxAreKnownByTheirSourceNames) {
  CheckReport report;
  for (const char* symbol : {"_ZN2cv6resizeEd", "_ZN2cv6resizeEii"}) {
    CheckedApi api;
    api.key.api.soname = "libcv.so.4";
    api.key.api.symbol = symbol;
    api.comparison.verdict = stats::Verdict::kWorse;
    report.apis.push_back(api);
  }
  const report::FrameNames names(report);
  for (const char* name : {"_ZN2cv6resizeEd", "cv::resize(double)", "cv::resize",
                           "libcv.so.4!cv::resize(double)+0x1f"}) {
    EXPECT_EQ(names.Find(name), report.apis.data()) << name;
  }
  EXPECT_EQ(names.Find("cv::resize(int, int)"), &report.apis[1]);
  for (const char* name : {"resize", "cv", "cv::resize(float)", "app!cv::resize"}) {
    EXPECT_EQ(names.Find(name), nullptr) << name;
  }
}

TEST(StackTreeTest, FlagsAreReadableWithoutColourAndRecursionCountsOnce) {
  const std::string text = Text("m;deflate;deflate 30\nm;x;inflate 20\nm;y 50\n");
  EXPECT_THAT(
      text, HasSubstr("  30.0 %    0.0 % !   deflate  worse than the field, ratio 2.50, q 0.01\n"));
  EXPECT_THAT(text, HasSubstr("  20.0 %   20.0 %       inflate\n"));
  EXPECT_THAT(text, EndsWith("100 ns in all; 1 of 1 APIs that are worse than the field (!) are in "
                             "it, with 30.0 % of it\n"));
  EXPECT_THAT(report::CheckedTreeText(Tree("deflate 1\n"), Flagging(), "",
                                      {.color = draw::ColorDepth::kTrue}),
              HasSubstr("\x1b[38;2;"));
}

TEST(StackTreeTest, WhatIsSmallIsSummedUpUnlessItLeadsToSomethingFlagged) {
  const std::string text = Text("big 9990\nsmall;deflate 1\nother 4\nmore 5\n");
  EXPECT_THAT(text, AllOf(HasSubstr("small\n"), HasSubstr("! "), Not(HasSubstr("other"))));
  EXPECT_THAT(text, HasSubstr("   0.1 %            (2 more)\n"));
}

TEST(StackTreeTest, HostileTextIsEscapedOrRefused) {
  EXPECT_THAT(Text("a\x1b[2J;<script> 1\n"), AllOf(HasSubstr("a\\x1b[2J"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(Text("a;;b 1\n"), HasSubstr("100.0 %    0.0 %     \n"));
  EXPECT_THAT(Text(""), HasSubstr("0 ns in all"));
  const auto refused = [](std::string_view folded) {
    StackTree tree;
    const Status status = AddFoldedStacks(folded, tree);
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(refused("a 1\nb;c\n"), "line 2 is no folded stack (\"a;b;c 12\")");
  for (const char* bad : {"a", "12", " 12", "a -1", "a 1.5", "a 99999999999999999999", "a 1 "}) {
    EXPECT_THAT(refused(bad), StartsWith("line 1 is no folded stack")) << bad;
  }
  EXPECT_THAT(refused("a 18446744073709551615\nb 1\n"), StartsWith("line 2: values of more than"));
  std::string deep = "f";
  for (std::size_t i = 0; i < kMaxFoldedFrames; ++i) deep += ";f";
  EXPECT_THAT(refused(deep + " 1"), StartsWith("line 1: a stack of more than 1024 functions"));
  EXPECT_EQ(refused(deep.substr(2) + " 1"), "");
  EXPECT_THAT(Text(deep.substr(2) + " 1"), HasSubstr("[1023] f\n"));
}

}  // namespace
}  // namespace fieldcost::analysis

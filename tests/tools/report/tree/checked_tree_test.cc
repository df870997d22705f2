#include "tools/report/tree/checked_tree.h"

#include <gmock/gmock.h>

#include "tests/tools/analysis/trees.h"
#include "tools/analysis/check_report.h"

namespace fieldcost::report {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// A report that flags libz.so.1!deflate.
analysis::CheckReport Flagging() {
  analysis::CheckReport report;
  const auto add = [&](const char* symbol, inference::Verdict verdict) {
    analysis::CheckedApi api;
    api.key.api.soname = "libz.so.1";
    api.key.api.symbol = symbol;
    api.comparison.verdict = verdict;
    api.comparison.ratio = 2.5;
    api.comparison.q = 0.01;
    report.apis.push_back(api);
  };
  add("deflate", inference::Verdict::kMore);
  add("inflate", inference::Verdict::kTooLittleData);
  add("crc32", inference::Verdict::kNone);
  return report;
}

std::string Text(const testing::WrittenRun& run, const draw::Style& style = {}) {
  const tree::Tree tree = testing::WrittenTree({run});
  return CheckedTreeText(analysis::TopDown(tree::Average(tree).value(), 0), Flagging(), style);
}

TEST(CheckedTreeTest, RecognisesFlaggedFunctionsByTheirNamesInProfilers) {
  const analysis::CheckReport report = Flagging();
  const FrameNames names(report);
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

TEST(CheckedTreeTest, FlaggedFunctionsOfCxxAreKnownByTheirSourceNames) {
  analysis::CheckReport report;
  for (const char* symbol : {"_ZN2cv6resizeEd", "_ZN2cv6resizeEii"}) {
    analysis::CheckedApi api;
    api.key.api.soname = "libcv.so.4";
    api.key.api.symbol = symbol;
    api.comparison.verdict = inference::Verdict::kMore;
    report.apis.push_back(api);
  }
  const FrameNames names(report);
  for (const char* name : {"_ZN2cv6resizeEd", "cv::resize(double)", "cv::resize",
                           "libcv.so.4!cv::resize(double)+0x1f"}) {
    EXPECT_EQ(names.Find(name), report.apis.data()) << name;
  }
  EXPECT_EQ(names.Find("cv::resize(int, int)"), &report.apis[1]);
  for (const char* name : {"resize", "cv", "cv::resize(float)", "app!cv::resize"}) {
    EXPECT_EQ(names.Find(name), nullptr) << name;
  }
}

TEST(CheckedTreeTest, FlagsFramesOfTheLibraryInAnyVersion) {
  const analysis::CheckReport report = Flagging();
  const FrameNames names(report);
  EXPECT_EQ(names.Find(tree::Frame{.module = "libz.so", .function = "deflate"}),
            report.apis.data());
  EXPECT_EQ(names.Find(tree::Frame{.function = "deflate_[j]"}), report.apis.data());
  EXPECT_EQ(names.Find(tree::Frame{.module = "app", .function = "deflate"}), nullptr);
  EXPECT_EQ(names.Find(tree::SpecialFrame("[deflate]")), nullptr);
}

TEST(CheckedTreeTest, FlagsAreReadableWithoutColourAndRecursionCountsOnce) {
  const std::string text =
      Text({{"m;libz.so!deflate;deflate", 30}, {"m;x;inflate", 20}, {"m;y", 50}});
  EXPECT_THAT(text, HasSubstr("  libz.so!deflate  ! worse than the field, ratio 2.50, q 0.01\n"));
  EXPECT_THAT(text, HasSubstr("    inflate\n"));
  EXPECT_THAT(text, EndsWith("100 ns in all. 1 of 1 API that is worse than the field is in this "
                             "profile, with 30.0 % of it (!)\n"));
}

TEST(CheckedTreeTest, TheSentenceCountsNothingOfNothing) {
  CheckedTree checked;
  EXPECT_EQ(FlaggedSentence(checked, 0, "0 %"), "No API is worse than the field");
  EXPECT_EQ(FlaggedSentence(checked, 1, "0 %"),
            "1 API is worse than the field, none in this profile");
  checked.worse_seen = 2;
  EXPECT_EQ(FlaggedSentence(checked, 3, "62 %"),
            "2 of 3 APIs that are worse than the field are in this profile, with 62 % of it");
}

TEST(CheckedTreeTest, SumsUpSmallPathsUnlessTheyLeadToAFinding) {
  const std::string text = Text({{"big", 9990}, {"small;deflate", 1}, {"other", 4}, {"more", 5}});
  EXPECT_THAT(text, AllOf(HasSubstr("small\n"), HasSubstr("! "), Not(HasSubstr("other"))));
  EXPECT_THAT(text, HasSubstr("(2 more)\n"));
}

TEST(CheckedTreeTest, HostileTextIsEscaped) {
  EXPECT_THAT(Text({{"a\x1b[2J;<script>", 1}}),
              AllOf(HasSubstr("a\\x1b[2J"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(Text({}), HasSubstr("0 ns in all"));
}

}  // namespace
}  // namespace fieldcost::report

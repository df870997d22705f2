#include "tools/report/tree/checked_tree.h"

#include <gmock/gmock.h>

#include "tests/tools/analysis/trees.h"
#include "tools/analysis/check_report.h"
#include "tools/report/tree/checked_contexts.h"

namespace fieldcost::report {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
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

// Deflate in three contexts, wall time and calls, in three runs. A call costs about 10 ns, from `c`
// the given cost.
tree::MeanTree Counted(std::uint64_t cost_from_c) {
  auto dictionary = std::make_shared<tree::Dictionary>();
  const auto intern = [&](const std::vector<tree::Frame>& frames) {
    tree::PathId at = tree::kRootPath;
    for (const tree::Frame& frame : frames) {
      at = dictionary->paths.Intern(at, dictionary->frames.Intern(frame).value()).value();
    }
    return at;
  };
  const tree::Frame deflate = testing::WrittenFrame("libz.so!deflate");
  const tree::Frame main = testing::WrittenFrame("app!main");
  const auto from = [&](const char* caller) {
    return intern({main, testing::WrittenFrame(caller), deflate});
  };
  std::vector<tree::RunValues> runs;
  for (const std::uint64_t noise : {0, 3, 5}) {
    tree::RunValues& run = runs.emplace_back(2);
    const auto add = [&](tree::PathId path, std::uint64_t calls, std::uint64_t cost) {
      EXPECT_TRUE(run.Add(0, path, calls).has_value());
      EXPECT_TRUE(run.Add(1, path, cost).has_value());
    };
    add(from("a"), 100, 1000 + noise);
    add(from("b"), 90, 900 - noise);
    add(from("c"), 10, 10 * cost_from_c + noise);
    // Seen by samples only: its calls were not counted.
    EXPECT_TRUE(run.Add(1, from("d"), 500).has_value());
    EXPECT_TRUE(run.Add(1, intern({main, testing::WrittenFrame("a"), deflate, deflate}), 7));
  }
  const std::vector<tree::Metric> metrics = {{.name = "calls", .unit = tree::Unit::kCount},
                                             {.name = "wall"}};
  return tree::Average(tree::TreeOf(std::move(dictionary), metrics, runs).value()).value();
}

TEST(CheckedContextsTest, RanksThePlacesOfFlaggedFunctionsByCost) {
  const tree::MeanTree mean =
      tree::Average(
          testing::WrittenTree({{{"app!main;app!rare;libz.so!deflate", 10},
                                 {"app!main;app!often;libz.so!deflate", 800},
                                 {"app!main;app!often;libz.so!deflate;libc.so!memcpy", 100},
                                 {"app!main;libz.so!deflate;libz.so!deflate", 200},
                                 {"app!main;libz.so!inflate", 5000}}}))
          .value();
  const analysis::CheckReport report = Flagging();
  const std::vector<CheckedContext> contexts = ContextsOf(mean, 0, report);
  ASSERT_EQ(contexts.size(), 3U);  // the inner call of the recursion is part of the outer one
  EXPECT_THAT(CallersOf(mean, contexts[0]), ElementsAre("app!main", "app!often"));
  EXPECT_THAT(CallersOf(mean, contexts[1]), ElementsAre("app!main"));
  EXPECT_THAT(CallersOf(mean, contexts[2]), ElementsAre("app!main", "app!rare"));
  EXPECT_EQ(contexts[0].cost, 900U);
  EXPECT_EQ(contexts[2].api_cost, 1110U);
  for (const CheckedContext& context : contexts) EXPECT_FALSE(context.comparison.has_value());
  const std::string text = ContextsText(mean, 0, contexts, {});
  EXPECT_THAT(text, AllOf(HasSubstr("Where they cost most:\n"), Not(HasSubstr("RATIO")),
                          HasSubstr("their number was not counted")));
  EXPECT_LT(text.find("often"), text.find("rare"));
}

TEST(CheckedContextsTest, MarksOnlyPlacesWhoseCallsCostMoreThanElsewhere) {
  const analysis::CheckReport report = Flagging();
  const tree::MeanTree slow = Counted(40);
  const std::vector<CheckedContext> contexts = ContextsOf(slow, 1, report);
  ASSERT_EQ(contexts.size(), 4U);
  // The most expensive ones are normal.
  EXPECT_THAT(CallersOf(slow, contexts[0]), ElementsAre("app!main", "a"));
  EXPECT_FALSE(contexts[0].comparison->deviates);
  EXPECT_FALSE(contexts[1].comparison->deviates);
  EXPECT_THAT(CallersOf(slow, contexts[2]), ElementsAre("app!main", "d"));
  EXPECT_FALSE(contexts[2].comparison.has_value());
  EXPECT_THAT(CallersOf(slow, contexts[3]), ElementsAre("app!main", "c"));
  EXPECT_NEAR(contexts[3].comparison->ratio, 4, 0.05);
  EXPECT_LT(contexts[3].comparison->q.value(), 0.01);
  EXPECT_TRUE(contexts[3].comparison->deviates);
  EXPECT_THAT(ContextsText(slow, 1, contexts, {}),
              AllOf(ContainsRegex("10 +4.01 ! +[^\n]*deflate +[^\n]*c\n"),
                    HasSubstr("! = at least 1.25, and")));

  for (const CheckedContext& context : ContextsOf(Counted(10), 1, report)) {
    EXPECT_FALSE(context.comparison && context.comparison->deviates);
  }
}

}  // namespace
}  // namespace fieldcost::report

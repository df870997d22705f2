#include "common/tree/remap.h"

#include <gtest/gtest.h>

#include "common/tree/codec.h"
#include "tests/common/tree/random_runs.h"

namespace fieldcost::tree {
namespace {

Frame Named(std::string function, std::string module = "app") {
  return {.module = std::move(module), .function = std::move(function)};
}

std::string Renamed(const std::string& rule, const Frame& frame) {
  RenameRules rules = RenameRules::Parse(std::span(&rule, 1)).value();
  const Frame renamed = rules.Apply(frame);
  EXPECT_EQ(rules.Unmatched().empty(), renamed != frame) << rule;
  return renamed.module + " " + renamed.function;
}

TEST(RenameRulesTest, RulesNameFunctionsExactlyOrByPattern) {
  EXPECT_EQ(Renamed("f=g", Named("f")), "app g");
  EXPECT_EQ(Renamed("f=g", Named("ff")), "app ff");
  EXPECT_EQ(Renamed("old::*=new::*", Named("old::f(int)")), "app new::f(int)");
  EXPECT_EQ(Renamed("*Parser::*(int)=*Reader::*(long)", Named("a::Parser::next(int)")),
            "app a::Reader::next(long)");
  EXPECT_EQ(Renamed("old*=all", Named("old::f(int)")), "app all");
  EXPECT_EQ(Renamed("f(char*)=g(char*)", Named("f(char*)")), "app g(char*)");
  EXPECT_EQ(Renamed("libold.so!*=libnew.so!*", Named("f", "libold.so")), "libnew.so f");
  EXPECT_EQ(Renamed("libold.so!*=libnew.so!*", Named("f", "libother.so")), "libother.so f");
  EXPECT_EQ(Renamed("app!f=g", Named("f")), "app g");
  EXPECT_EQ(Renamed("operator==(A)=operator==(B)", Named("operator==(A)")), "app operator==(B)");
  EXPECT_EQ(Renamed("A::operator!=(A)=f", Named("A::operator!=(A)")), "app f");
  EXPECT_EQ(Renamed("A::operator=(A)=f", Named("A::operator=(A)")), "app f");
  EXPECT_EQ(Renamed("ab*ba=c*c", Named("aba")), "app aba");  // the ends would overlap
  EXPECT_EQ(Renamed("*a*=b*b*", Named("xaya")), "app bxbya");
}

TEST(RenameRulesTest, AppliesTheFirstMatchingRuleAndReportsUnmatchedOnes) {
  const std::vector<std::string> texts = {"f=g", "f=h", "g=f", "gone=f"};
  RenameRules rules = RenameRules::Parse(texts).value();
  EXPECT_EQ(rules.Apply(Named("f")), Named("g"));
  EXPECT_EQ(rules.Apply(Named("g")), Named("f"));
  EXPECT_EQ(rules.Apply(SpecialFrame(kKernel)), SpecialFrame(kKernel));
  EXPECT_EQ(rules.Unmatched(), (std::vector<std::string>{"f=h", "gone=f"}));
  Frame local = Named("f");
  local.file = "a.c";
  EXPECT_EQ(rules.Apply(local).file, "a.c");
}

TEST(RenameRulesTest, RefusesInvalidRules) {
  for (const std::string text :
       {"", "f", "=g", "f=", "f=g=h", "f=*", "a*=b**", "f=lib.so!g", "operator==", "\n"}) {
    const auto rules = RenameRules::Parse(std::span(&text, 1));
    ASSERT_FALSE(rules.has_value()) << text;
    EXPECT_EQ(rules.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(rules.error().message.find('\n'), std::string::npos);
  }
}

PlainRun PlainOf(const std::map<Names, std::uint64_t>& self) {
  PlainRun run;
  for (const auto& [path, value] : self) run.self[path] = {value};
  return run;
}

Tree TreeOf1(const std::map<Names, std::uint64_t>& self) {
  std::mt19937_64 random(1);
  const PlainRun run = PlainOf(self);
  return TreeOfPlain(std::span(&run, 1), SomeMetrics(1), random);
}

TEST(RemapTest, DirectRecursionIsOneFrame) {
  const Tree deep = TreeOf1({{{"f"}, 1},
                             {{"f", "f"}, 2},
                             {{"f", "f", "f", "g"}, 4},
                             {{"f", "g", "f", "f"}, 8},
                             {{"g"}, 16}});
  const PathMap map = FoldRecursion(*deep.dictionary).value();
  const Tree folded = Apply(map, deep).value();
  EXPECT_EQ(EncodeTree(folded),
            EncodeTree(TreeOf1({{{"f"}, 3}, {{"f", "g"}, 4}, {{"f", "g", "f"}, 8}, {{"g"}, 16}})));
}

TEST(RemapTest, RenamedPathsThatMeetAddUp) {
  const std::vector<std::string> texts = {"old=f"};
  RenameRules rules = RenameRules::Parse(texts).value();
  const Tree tree = TreeOf1({{{"old", "g"}, 1}, {{"f", "g"}, 2}, {{"h", "old"}, 4}});
  const PathMap map = Rename(*tree.dictionary, rules).value();
  EXPECT_EQ(EncodeTree(Apply(map, tree).value()),
            EncodeTree(TreeOf1({{{"f", "g"}, 3}, {{"h", "f"}, 4}})));
}

TEST(RemapTest, SummedRunsAreRenamedUnlessPathsMeet) {
  std::mt19937_64 random(2);
  const std::vector<PlainRun> apart = {PlainOf({{{"old"}, 1}}), PlainOf({{{"old"}, 3}})};
  const std::vector<PlainRun> renamed = {PlainOf({{{"f"}, 1}}), PlainOf({{{"f"}, 3}})};
  const std::vector<PlainRun> meeting = {PlainOf({{{"old"}, 1}}), PlainOf({{{"f"}, 3}})};
  RenameRules rules = RenameRules::Parse(std::vector<std::string>{"old=f"}).value();
  const Tree tree = TreeOfPlain(apart, SomeMetrics(1), random);
  const PathMap map = Rename(*tree.dictionary, rules).value();
  EXPECT_EQ(EncodeTree(Apply(map, tree).value()),
            EncodeTree(TreeOfPlain(renamed, SomeMetrics(1), random)));
  const Tree sum = TreeOfPlain(meeting, SomeMetrics(1), random);
  const auto refused = Apply(Rename(*sum.dictionary, rules).value(), sum);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("2 runs"));
}

TEST(RemapTest, RefusesValuesThatOverflow) {
  Dictionary dictionary;
  RunValues run(1);
  ASSERT_TRUE(run.Add(0, Enter(dictionary, {"f"}), ~std::uint64_t{0}).has_value());
  ASSERT_TRUE(run.Add(0, Enter(dictionary, {"f", "f"}), 1).has_value());
  EXPECT_EQ(Apply(FoldRecursion(dictionary).value(), run).error().code, ErrorCode::kTooLarge);
}

TEST(RemapTest, ReportsTheShareOfCodeWithoutAName) {
  auto dictionary = std::make_shared<Dictionary>();
  const PathId named = Enter(*dictionary, {"f"});
  const FrameId code =
      dictionary->frames.Intern({.kind = FrameKind::kUnnamed, .build_id = "\x01"}).value();
  const PathId unnamed = dictionary->paths.Intern(named, code).value();
  RunValues run(1);
  ASSERT_TRUE(run.Add(0, named, 30).has_value());
  ASSERT_TRUE(run.Add(0, unnamed, 10).has_value());
  const Tree tree = TreeOf(dictionary, SomeMetrics(1), std::vector{run, run}).value();
  EXPECT_TRUE(UnnamedSum(tree, 0) == 20);
  EXPECT_DEATH(UnnamedSum(tree, 1), "metric <");
}

}  // namespace
}  // namespace fieldcost::tree

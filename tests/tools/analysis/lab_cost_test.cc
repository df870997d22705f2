#include "tools/analysis/lab_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "common/draw/numbers.h"
#include "tests/common/wire/lab_samples.h"
#include "tools/analysis/lab_change.h"
#include "tools/report/lab/lab_diff_text.h"
#include "tools/report/lab/table_text.h"

namespace fieldcost::analysis {
namespace {

using inference::Verdict;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using wire::LabTableBuilder;

const LabCost* Find(const std::vector<LabCost>& costs, std::string_view symbol) {
  for (const LabCost& cost : costs) {
    if (cost.summary.api.symbol == symbol) return &cost;
  }
  return nullptr;
}

const LabChange* Find(const std::vector<LabChange>& changes, std::string_view symbol) {
  for (const LabChange& change : changes) {
    if (change.symbol == symbol) return &change;
  }
  return nullptr;
}

TEST(LabCostTest, EachApiThatWasCalledHasItsCallsRunsAndShape) {
  const std::vector<LabCost> costs = LabCosts(wire::ShapesLabTable());
  ASSERT_EQ(costs.size(), 10U);
  const auto shape = [&](const char* name) { return Find(costs, name)->shape.shape; };
  EXPECT_EQ(shape("grows"), stats::Shape::kGrows);
  EXPECT_EQ(shape("bimodal"), stats::Shape::kBimodal);
  EXPECT_EQ(shape("heavy"), stats::Shape::kHeavyTailed);
  EXPECT_EQ(shape("constant"), stats::Shape::kConstant);
  EXPECT_EQ(shape("few"), stats::Shape::kTooFewCalls);
  EXPECT_TRUE(Find(costs, "start_up")->shape.start_up.has_value());
  EXPECT_TRUE(Find(costs, "start_up")->shape.allocates_at_first_only);
  EXPECT_FALSE(Find(costs, "constant")->shape.start_up.has_value());
  const LabCost& grows = *Find(costs, "grows");
  EXPECT_EQ(grows.calls, 200U) << "of the map run, not of the timed ones";
  EXPECT_EQ(grows.runs, 5U);
  EXPECT_EQ(grows.summary.Find(stats::Metric::kWallTime)->figures.calls, 1000U);
  EXPECT_EQ(grows.alloc_per_call, 0.0);
  EXPECT_EQ(Find(costs, "start_up")->alloc_per_call, 2048.0);
  EXPECT_FALSE(Find(costs, "heavy")->alloc_per_call.has_value());
  EXPECT_TRUE(Find(costs, "own")->is_own);
  const LabCost& never = *Find(costs, "never_timed");
  EXPECT_EQ(never.calls, 3U);
  EXPECT_EQ(never.runs, 0U);
  EXPECT_FALSE(never.TotalNs().has_value());
}

TEST(LabCostTest, SpreadDependsOnRunsNotOnCalls) {
  LabTableBuilder builder;
  // Means of 2^10 and 2^11, twice: half an octave on either side, with a standard deviation of
  // sqrt(1 / 3) octaves.
  builder.Run("two", {1024, 1024, 1024}).Run("two", {2048, 2048, 2048});
  builder.Run("two", {1024, 1024, 1024}).Run("two", {2048, 2048, 2048});
  for (int run = 0; run < 3; ++run) builder.Run("same", {16, 1 << 20});
  builder.Run("few_runs", {100, 100}).Run("few_runs", {100, 100});
  for (const std::uint64_t ns : {100, 900, 100}) builder.Run("one_call", {ns});
  const std::vector<LabCost> costs = LabCosts(builder.Table());
  EXPECT_NEAR(*Find(costs, "two")->run_spread, std::exp2(std::sqrt(1.0 / 3)) - 1, 1e-4);
  EXPECT_NEAR(*Find(costs, "same")->run_spread, 0, 1e-4);
  EXPECT_FALSE(Find(costs, "few_runs")->run_spread.has_value()) << "two runs are too few";
  EXPECT_FALSE(Find(costs, "one_call")->run_spread.has_value()) << "it is what calls differ by";
}

TEST(LabCostTest, TheMostExpensiveComeFirst) {
  std::vector<LabCost> costs = LabCosts(wire::ShapesLabTable());
  Sort(costs, SortKey::kTotal);
  EXPECT_EQ(costs.front().summary.api.symbol, "poll");
  EXPECT_EQ(costs.back().summary.api.symbol, "never_timed");
  Sort(costs, SortKey::kCalls);
  EXPECT_EQ(costs.front().summary.api.symbol, "bimodal") << "of equal ones by name";
  Sort(costs, SortKey::kP50);
  EXPECT_EQ(costs.front().summary.api.symbol, "poll");
}

// Adds runs of this many calls, whose mean is `ns` with 2 % noise.
LabTableBuilder& AddRuns(LabTableBuilder& builder, const std::string& symbol, double ns,
                         std::mt19937_64& random) {
  std::normal_distribution<double> octaves(0, std::log2(1.02));
  for (int run = 0; run < 5; ++run) {
    const double mean = ns * std::exp2(octaves(random));
    std::vector<std::uint64_t> costs;
    for (int i = 0; i < 30; ++i) costs.push_back(static_cast<std::uint64_t>(mean * (1 + 0.01 * i)));
    builder.Run(symbol, costs);
  }
  return builder;
}

wire::LabTable Scenario(std::mt19937_64& random, double planted) {
  LabTableBuilder builder;
  for (int i = 0; i < 20; ++i) AddRuns(builder, fmt::format("f{}", i), 1000 * (i + 1), random);
  AddRuns(builder, "planted", 7000 * planted, random);
  return builder.Table();
}

// The tables' runs differ only by noise.
TEST(LabChangeTest, EqualTablesAreSeldomFlagged) {
  std::mt19937_64 random(1);
  int flagged = 0;
  constexpr int kPairs = 200;
  for (int i = 0; i < kPairs; ++i) {
    const auto changes =
        CompareLabTables(Scenario(random, 1), Scenario(random, 1), stats::Metric::kWallTime);
    ASSERT_EQ(changes.size(), 21U);
    flagged += changes[0].change == Verdict::kMore || changes[0].change == Verdict::kLess ? 1 : 0;
  }
  EXPECT_LE(flagged, kPairs / 20);
}

TEST(LabChangeTest, ATenthMoreIsFoundWhereRunsDifferByTwoPercent) {
  std::mt19937_64 random(2);
  int found = 0;
  constexpr int kPairs = 100;
  for (int i = 0; i < kPairs; ++i) {
    const auto changes =
        CompareLabTables(Scenario(random, 1), Scenario(random, 1.1), stats::Metric::kWallTime);
    const LabChange& planted = *Find(changes, "planted");
    found += planted.change == Verdict::kMore ? 1 : 0;
    EXPECT_NEAR(planted.ratio, 1.1, 0.08);
  }
  EXPECT_GE(found, kPairs * 9 / 10);
}

TEST(LabChangeTest, IgnoresCertainChangesBelowFivePercent) {
  LabTableBuilder before, after, twice;
  for (int run = 0; run < 20; ++run) {
    before.Run("f", {10000, 10001}).Run("g", {5000}).Run("gone", {5});
    after.Run("f", {10400, 10401}).Run("g", {5000}).Run("new", {5});
    twice.Run("f", {20000, 20001});
  }
  auto changes = CompareLabTables(before.Table(), after.Table(), stats::Metric::kWallTime);
  ASSERT_EQ(changes.size(), 2U) << "neither what is gone nor what is new";
  EXPECT_LT(Find(changes, "f")->q, 0.001);
  EXPECT_EQ(Find(changes, "f")->change, Verdict::kNone);
  changes = CompareLabTables(before.Table(), twice.Table(), stats::Metric::kWallTime);
  EXPECT_EQ(changes.at(0).change, Verdict::kMore);
  EXPECT_NEAR(changes.at(0).ratio, 2, 1e-3);
  changes = CompareLabTables(twice.Table(), before.Table(), stats::Metric::kWallTime);
  EXPECT_EQ(changes.at(0).change, Verdict::kLess);
}

TEST(LabChangeTest, TwoRunsAreTooFewAndOtherMachinesAreSeparate) {
  LabTableBuilder before, after;
  before.Run("f", {1000}).Run("f", {1001});
  after.Run("f", {9000}).Run("f", {9001}).Run("f", {9002});
  const auto few = CompareLabTables(before.Table(), after.Table(), stats::Metric::kWallTime);
  EXPECT_EQ(few.at(0).change, Verdict::kTooLittleData);
  EXPECT_EQ(few.at(0).runs_after, 3U);
  // Only one table contains a slow machine: the runs of the other class are compared.
  LabTableBuilder fast, slow, again;
  slow.hardware.cpu_family = "GenuineIntel-5";
  for (int run = 0; run < 5; ++run) {
    const auto noise = static_cast<std::uint64_t>(run);
    fast.Run("f", {1000 + noise});
    again.Run("f", {1001 + noise});
    slow.Run("f", {8000 + noise});
  }
  const wire::LabTable both =
      wire::MergeLabTables(std::vector{again.Table("again"), slow.Table("slow")}).value();
  const auto changes = CompareLabTables(fast.Table(), both, stats::Metric::kWallTime);
  EXPECT_EQ(changes.at(0).change, Verdict::kNone);
  EXPECT_NEAR(changes.at(0).ratio, 1, 0.01);
  // Without a common class, all are compared together.
  EXPECT_EQ(CompareLabTables(fast.Table(), slow.Table(), stats::Metric::kWallTime).at(0).change,
            Verdict::kMore);
}

TEST(LabTableTextTest, ALineAnApiWithAllThatTheLabKnows) {
  std::vector<LabCost> costs = LabCosts(wire::ShapesLabTable());
  Sort(costs, SortKey::kTotal);
  const std::string text = report::LabTableText(costs, WholeNs(costs), {.utf8 = true});
  EXPECT_THAT(text, ::testing::StartsWith(" TOTAL   SHARE  API"));
  EXPECT_THAT(text, AllOf(HasSubstr("RUN±"), HasSubstr("ALLOC/CALL  SHAPE"),
                          HasSubstr("grows with argument 3, ~n^0.9"), HasSubstr("too few calls"),
                          HasSubstr("Json::Reader::parse"), HasSubstr("2.0 KiB"),
                          HasSubstr("libsqlite3.so.0 (own)"), HasSubstr("cheap ")));
  // No line is wider than the terminal.
  for (const std::size_t columns : {80U, 100U, 200U}) {
    const draw::Style style{.utf8 = true, .columns = columns};
    std::string all = report::LabTableText(costs, WholeNs(costs), style);
    const bool has_spread = all.find("RUN±") != std::string::npos;
    const std::string note = report::LabNote(wire::ShapesLabTable().parts, all, style);
    EXPECT_EQ(note.find("RUN±:") != std::string::npos, has_spread) << note;
    all += note;
    for (const LabCost& cost : costs) all += report::ShapeText(cost, style);
    for (std::size_t begin = 0; begin < all.size();) {
      const std::size_t end = all.find('\n', begin);
      EXPECT_LE(draw::DisplayWidth(all.substr(begin, end - begin)), columns)
          << all.substr(begin, end - begin);
      begin = end + 1;
    }
  }
  EXPECT_THAT(report::LabTableText(costs, WholeNs(costs), {.columns = 80}), HasSubstr("RUN+-"));
}

TEST(LabTableTextTest, TotalsAndTheirSharesStandFirst) {
  std::vector<LabCost> costs = LabCosts(wire::ShapesLabTable());
  Sort(costs, SortKey::kTotal);
  const double whole_ns = WholeNs(costs);
  double previous = whole_ns;
  for (const LabCost& cost : costs) {
    EXPECT_LE(cost.TotalNs().value_or(0), previous);
    previous = cost.TotalNs().value_or(0);
  }
  const double first = costs[0].TotalNs().value();
  const std::string text = report::LabTableText(std::span(costs).first(1), whole_ns, {});
  EXPECT_THAT(text, AllOf(HasSubstr("\n" + draw::TotalText(first, {}) + "  "),
                          HasSubstr("  " + draw::RoughShareText(first / whole_ns) + "  ")));
}

TEST(LabTableTextTest, ACallThatOnlyTimedRunsMadeIsNotCountedAsNone) {
  std::vector<LabCost> costs = LabCosts(wire::ShapesLabTable());
  Sort(costs, SortKey::kTotal);
  LabCost& cost = costs[0];
  cost.totals.clear();
  cost.calls = 0;
  cost.runs = cost.summary.Find(stats::Metric::kWallTime)->sums.histogram.count();
  const std::string text = report::LabTableText(std::span(costs).first(1), 1, {.utf8 = true});
  EXPECT_THAT(text, HasSubstr("  0–1  ")) << text;
}

TEST(LabTableTextTest, DistinguishesBuildsOfOneLibrary) {
  std::vector<LabCost> costs = LabCosts(wire::ShapesLabTable());
  costs.resize(3);
  for (LabCost& cost : costs) {
    cost.summary.api = {"libx.so.1", "", "0123456789abcdef", "f", ""};
  }
  EXPECT_THAT(report::LabTableText(costs, 1, {}), Not(HasSubstr("build")));
  costs[1].summary.api.build_id = "fedcba9876543210";
  costs[2].summary.api.package_version = "1.2-3";
  EXPECT_THAT(report::LabTableText(costs, 1, {}),
              AllOf(HasSubstr("libx.so.1 build 01234567"), HasSubstr("libx.so.1 build fedcba98"),
                    HasSubstr("libx.so.1 1.2-3 ")));
}

TEST(LabTableTextTest, TheShapeStandsWithWhatItFollowsFrom) {
  const std::vector<LabCost> costs = LabCosts(wire::ShapesLabTable());
  const auto text = [&](const char* name) {
    return report::ShapeText(*Find(costs, name), {.utf8 = true});
  };
  EXPECT_THAT(text("grows"),
              AllOf(HasSubstr("  shape: grows with argument 3, ~n^0.9\n"), HasSubstr("R² 1.00"),
                    HasSubstr("ARGUMENT"), HasSubstr("16,384–32,767")));
  EXPECT_THAT(text("bimodal"),
              AllOf(HasSubstr("bimodal, 20 % of calls cost ~64 x"), HasSubstr("800 calls in 64 ns"),
                    HasSubstr("200 calls in 4.1 µs – 8.2 µs")));
  EXPECT_THAT(text("start_up"),
              AllOf(HasSubstr("start-up >= "), HasSubstr("in each of 5 processes"),
                    HasSubstr("allocates in first calls only")));
  EXPECT_THAT(text("constant"), AllOf(HasSubstr("p10 1.5 µs"), HasSubstr("5 runs differ by ")));
  EXPECT_EQ(text("few"), "  shape: too few calls\n    1 call per run\n");
}

TEST(LabTableTextTest, TheNoteExplainsOnlyColumnsThatAreShown) {
  const std::vector<wire::LabPart> parts = wire::ShapesLabTable().parts;
  const draw::Style style{.utf8 = true};
  EXPECT_THAT(report::LabNote(parts, "TOTAL  RUN±", style), HasSubstr("RUN±: variation"));
  EXPECT_THAT(report::LabNote(parts, "TOTAL", style), Not(HasSubstr("RUN±")));
}

TEST(LabTableTextTest, HostileNamesStayText) {
  LabTableBuilder builder;
  builder.Run("=f()", {1});
  wire::LabTable table = builder.Table();
  table.parts[0].name = "a\033[2J\n=b";
  const std::vector<LabCost> costs = LabCosts(table);
  EXPECT_THAT(report::LabNote(table.parts, {}, {}),
              AllOf(Not(HasSubstr("\033")), HasSubstr("\\x1b")));
  EXPECT_THAT(report::LabCsv(costs), HasSubstr("'=f()"));
}

TEST(LabTableTextTest, ChangesAreNamedAndTheOthersCounted) {
  const auto changes = CompareLabTables(wire::ShapesLabTable(1, 1), wire::ShapesLabTable(1.5, 2),
                                        stats::Metric::kWallTime);
  const std::string text = report::LabDiffText(changes, false, {.utf8 = true});
  EXPECT_THAT(text, AllOf(HasSubstr("slower"), HasSubstr("1.5"), HasSubstr("95 %"),
                          HasSubstr("with fewer than 3 runs on a side")));
  const auto same = CompareLabTables(wire::ShapesLabTable(1, 1), wire::ShapesLabTable(1, 2),
                                     stats::Metric::kWallTime);
  EXPECT_THAT(report::LabDiffText(same, false, {}),
              ::testing::StartsWith("0 changed, 9 without a significant change"));
  EXPECT_THAT(report::LabDiffText(same, true, {}), HasSubstr("no change shown"));
  EXPECT_THAT(report::LabDiffCsv(same, {}),
              ::testing::StartsWith("soname,symbol,symbol_version,metric,change,ratio,ratio_low,"));
}

}  // namespace
}  // namespace fieldcost::analysis

#include "tools/analysis/lab_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/common/wire/lab_samples.h"
#include "tools/analysis/lab_change.h"
#include "tools/report/lab/count_text.h"
#include "tools/report/lab/lab_diff_text.h"

namespace fieldcost::analysis {
namespace {

using inference::Verdict;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using wire::LabTableBuilder;
constexpr auto kCalls = stats::Metric::kCallsPerRun;
constexpr auto kBytes = stats::Metric::kAllocInclusive;
constexpr auto kWritten = stats::Metric::kDiskWritten;

const LabCount* Find(const LabCounts& counts, std::string_view symbol, stats::Metric metric) {
  for (const LabCount& count : counts.apis) {
    if (count.symbol == symbol && count.metric == metric) return &count;
  }
  return nullptr;
}

// A program that puts 60 times; the puts prepare `prepares` times in total, which allocates.
wire::LabTable Program(std::uint64_t prepares, std::uint64_t put_ns = 1000) {
  LabTableBuilder builder;
  for (std::uint64_t run = 0; run < 5; ++run) {
    builder.Run("put", std::vector<std::uint64_t>(60, put_ns + run));
    builder.Run("prepare", std::vector<std::uint64_t>(prepares, 800 + run));
  }
  builder.Stack({"put"}, 60, 0).Stack({"put", "prepare"}, prepares, 0);
  builder.Stack({"put", "prepare", "malloc"}, 3 * prepares, 300 * prepares);
  builder.Stack({"other"}, 7, 0);
  builder.Total("put", kCalls, 60, 60).Total("put", kBytes, 300 * prepares, 300 * prepares);
  builder.Total("prepare", kCalls, prepares, prepares);
  builder.Total("prepare", kBytes, 300 * prepares, 300 * prepares);
  builder.Total("malloc", kCalls, 3 * prepares, 3 * prepares);
  return builder.Table();
}

// One API in one metric that changes from the first range to the second.
LabCount One(std::uint64_t least, std::uint64_t most, std::uint64_t then_least,
             std::uint64_t then_most, std::uint32_t runs = 6) {
  LabTableBuilder before, after;
  before.Total("f", kCalls, least, most);
  after.Total("f", kCalls, then_least, then_most);
  wire::LabTable old = before.Table("old");
  wire::LabTable now = after.Table("now");
  now.parts[0].counted_runs = runs;
  return CompareLabCounts(old, now).apis.at(0);
}

TEST(LabCountsTest, AnyDifferenceOfFixedCountsIsAChange) {
  EXPECT_EQ(One(62, 62, 62, 62).change, Verdict::kNone);
  EXPECT_EQ(One(62, 62, 1061, 1061).change, Verdict::kMore);
  EXPECT_TRUE(One(62, 62, 1061, 1061).decides);
  EXPECT_EQ(One(1061, 1061, 62, 62).change, Verdict::kLess);
  EXPECT_FALSE(One(1061, 1061, 62, 62).decides);
  EXPECT_EQ(One(1000000, 1000000, 1000001, 1000001).change, Verdict::kMore);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(One(kMost - 1, kMost - 1, kMost, kMost).change, Verdict::kMore);
  EXPECT_FALSE(One(kMost - 1, kMost - 1, kMost, kMost).decides);
}

TEST(LabCountsTest, OnlyAnIncreaseOfFivePercentDecides) {
  EXPECT_FALSE(One(1000, 1000, 1049, 1049).decides);
  EXPECT_TRUE(One(1000, 1000, 1050, 1050).decides);
  EXPECT_TRUE(One(0, 0, 1, 1).decides) << "from none";
  EXPECT_FALSE(One(1, 1, 0, 0).decides);
}

TEST(LabCountsTest, CountsThatVaryAreComparedByTheirRanges) {
  EXPECT_EQ(One(60, 70, 65, 90).change, Verdict::kNone) << "they overlap";
  EXPECT_EQ(One(60, 70, 80, 85).change, Verdict::kNone) << "no further apart than wide";
  EXPECT_EQ(One(60, 70, 81, 85).change, Verdict::kMore);
  EXPECT_EQ(One(81, 85, 60, 70).change, Verdict::kLess);
  EXPECT_EQ(One(62, 62, 63, 64).change, Verdict::kNone);
  EXPECT_EQ(One(62, 62, 600, 620).change, Verdict::kMore) << "one side only";
  EXPECT_EQ(One(60, 70, 600, 610, 2).change, Verdict::kNone) << "two runs do not make a range";
}

TEST(LabCountsTest, ACountOfOneRunIsAFactThatDecidesNothing) {
  EXPECT_EQ(One(62, 62, 1061, 1061, 1).change, Verdict::kMore);
  EXPECT_FALSE(One(62, 62, 1061, 1061, 1).decides);
}

TEST(LabCountsTest, DoesNotCompareMetricsThatOneSideDidNotMeasure) {
  LabTableBuilder before, after;
  before.Total("f", kCalls, 5, 5);
  after.Total("f", kWritten, 100, 100).Total("f", kCalls, 5, 5);
  const LabCounts counts = CompareLabCounts(before.Table(), after.Table());
  EXPECT_EQ(Find(counts, "f", kWritten)->change, Verdict::kTooLittleData);
  EXPECT_EQ(Find(counts, "f", kBytes), nullptr) << "known on neither side";
}

TEST(LabCountsTest, AnApiOfOneTableWasNotCalledInTheOther) {
  LabTableBuilder before, after;
  before.Total("gone", kCalls, 5, 5);
  after.Total("new", kCalls, 3, 3);
  wire::LabTable old = before.Table();
  const wire::LabTable now = after.Table();
  LabCounts counts = CompareLabCounts(old, now);
  EXPECT_EQ(Find(counts, "new", kCalls)->before.most, 0U);
  EXPECT_TRUE(Find(counts, "new", kCalls)->decides);
  EXPECT_EQ(Find(counts, "gone", kCalls)->change, Verdict::kLess);
  // But not if the old table did not select it.
  old.parts[0].apis = "libz.so.1!*";
  counts = CompareLabCounts(old, now);
  EXPECT_TRUE(counts.is_compared);
  EXPECT_TRUE(counts.apis.empty());
}

TEST(LabCountsTest, TablesOfDifferentMeasurementsAreNotCompared) {
  const wire::LabTable one = Program(60);
  const wire::LabTable two = wire::MergeLabTables(std::vector{one, Program(61)}).value();
  EXPECT_FALSE(CompareLabCounts(one, two).is_compared);
  wire::LabTable uncounted = one;
  uncounted.parts[0].counted_runs = 0;
  EXPECT_FALSE(CompareLabCounts(one, uncounted).is_compared);
  // Sums of equally many measurements are compared.
  const wire::LabTable more = wire::MergeLabTables(std::vector{one, Program(62)}).value();
  EXPECT_EQ(Find(CompareLabCounts(two, more), "prepare", kCalls)->after.least, 122U);
}

TEST(LabCountsTest, BuildsOfOneLibraryAreAddedUp) {
  LabTableBuilder one;
  one.Total("f", kCalls, 5, 5);
  wire::LabTable old = one.Table();
  wire::LabTable now = old;
  now.apis.push_back(now.apis[0]);
  now.apis[1].api.build_id = "ffffffff";
  const LabCounts counts = CompareLabCounts(old, now);
  EXPECT_EQ(Find(counts, "f", kCalls)->after.least, 10U);
}

TEST(LabCountsTest, TheOutermostApiThatIsCalledMoreComesFirst) {
  const LabCounts counts = CompareLabCounts(Program(60), Program(1060));
  EXPECT_EQ(counts.apis[0].symbol, "prepare");
  EXPECT_EQ(counts.apis[0].metric, kCalls);
  EXPECT_FALSE(counts.apis[0].follows);
  EXPECT_TRUE(Find(counts, "malloc", kCalls)->follows) << "prepare calls it";
  EXPECT_TRUE(Find(counts, "put", kBytes)->follows) << "prepare allocates them";
  EXPECT_EQ(Find(counts, "put", kCalls)->change, Verdict::kNone);
  EXPECT_EQ(Find(counts, "other", kCalls)->change, Verdict::kNone);
}

// SQLite's parser prepares, too: if functions call each other, the outer one is the cause.
TEST(LabCountsTest, RecursionHidesNoCause) {
  const auto table = [](std::uint64_t calls) {
    LabTableBuilder builder;
    builder.Stack({"prepare"}, calls, 0).Stack({"prepare", "a_parser"}, 5 * calls, 0);
    builder.Stack({"prepare", "a_parser", "prepare"}, 1, 0);
    return builder.Table();
  };
  const LabCounts counts = CompareLabCounts(table(10), table(100));
  EXPECT_EQ(counts.apis[0].symbol, "prepare");
  EXPECT_TRUE(Find(counts, "a_parser", kCalls)->follows);
}

// A caller with slightly more calls does not explain many more calls.
TEST(LabCountsTest, ASmallChangeExplainsNoGreatOne) {
  const auto table = [](std::uint64_t lines, std::uint64_t compressed) {
    LabTableBuilder builder;
    builder.Run("read_line", {100}).Run("compress", {90'000});
    builder.Stack({"read_line"}, lines, 0).Stack({"read_line", "compress"}, compressed, 0);
    return builder.Table();
  };
  const LabCounts counts = CompareLabCounts(table(4, 1), table(5, 41));
  EXPECT_EQ(counts.apis[0].symbol, "compress") << "it has the greatest effect";
  EXPECT_EQ(counts.apis[0].effect_ns, 40 * 90'000);
  EXPECT_FALSE(counts.apis[0].follows);
  EXPECT_TRUE(Find(CompareLabCounts(table(4, 40), table(5, 50)), "compress", kCalls)->follows);
}

std::string Lead(const wire::LabTable& before, const wire::LabTable& after) {
  return report::LabDiffLead(CompareLabTables(before, after, stats::Metric::kWallTime),
                             CompareLabCounts(before, after), after, {});
}

TEST(LabDiffLeadTest, NamesTheFunctionThatIsCalledMoreAndItsSlowCaller) {
  EXPECT_EQ(Lead(Program(60), Program(60)), "No function takes significantly more or less.\n");
  EXPECT_EQ(Lead(Program(62), Program(1061)),
            "prepare is called more often: 62 -> 1,061 calls per run.\n");
  EXPECT_EQ(Lead(Program(62), Program(1061, 4840)),
            "prepare is called more often: 62 -> 1,061 calls per run. put, which calls it, is "
            "slower: 4.83x the time per call.\n");
  EXPECT_EQ(Lead(Program(62), Program(62, 2000)), "put is slower: 2.00x the time per call.\n");
  EXPECT_EQ(Lead(Program(1061), Program(62)),
            "prepare is called less often: 1,061 -> 62 calls per run.\n");
}

TEST(LabDiffLeadTest, SmallDifferencesAreNotRegressions) {
  EXPECT_EQ(Lead(Program(1000), Program(1001)),
            "No function takes significantly more or less. The first difference: prepare is called "
            "more often: 1,000 -> 1,001 calls per run.\n");
}

TEST(LabDiffLeadTest, NamesBytesWhereNothingElseHasChanged) {
  LabTableBuilder before, after;
  before.Stack({"load"}, 1, 0).Total("load", kCalls, 1, 1).Total("load", kBytes, 1024, 1024);
  after.Stack({"load"}, 1, 0).Total("load", kCalls, 1, 1).Total("load", kBytes, 2048, 2060);
  EXPECT_EQ(Lead(before.Table(), after.Table()),
            "load takes more: 1,024 B -> 2,048-2,060 B allocated per run.\n");
}

TEST(LabCountTextTest, ListsChangesExactlyAndNamesTheSideThatVaries) {
  const LabCounts counts = CompareLabCounts(Program(62), Program(1061));
  const std::string text = report::LabCountText(counts, false, {.utf8 = true});
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("more calls  prepare"), HasSubstr("62      1,061"), HasSubstr("318,300 B"),
            Not(HasSubstr("other")),
            HasSubstr("4 changes in calls and bytes per run (6 runs counted of the old, 6 of the "
                      "new; an increase by 5 % is a regression)"),
            Not(HasSubstr("vary"))));
  EXPECT_THAT(report::LabCountText(counts, true, {}), HasSubstr("other"));
  LabTableBuilder before, after;
  before.Total("f", kCalls, 5, 5);
  after.Total("f", kCalls, 5, 9);
  EXPECT_THAT(
      report::LabCountText(CompareLabCounts(before.Table(), after.Table()), true, {}),
      AllOf(HasSubstr("5-9"), HasSubstr("of 0 APIs of the old table and 1 of the new one vary")));
  EXPECT_THAT(report::LabCountText({}, false, {}), StartsWith("(calls and bytes per run are not"));
}

TEST(LabCountTextTest, AnApisTotalsAreExactAndWithoutWhatIsNotMeasured) {
  using ::testing::ElementsAre;
  const std::vector<wire::LabTotal> known = {
      {kBytes, 0, 0}, {kWritten, 4096, 8192}, {kCalls, 1061, 1061}};
  EXPECT_THAT(report::TotalLines(known, {}),
              ElementsAre("1,061 calls per run, 4,096-8,192 B disk_written"));
  const std::vector<wire::LabTotal> hidden = {{kBytes, 64, 64}, {kCalls, 2, 2}};
  EXPECT_THAT(report::TotalLines(hidden, {}), ElementsAre("2 calls per run, 64 B allocated"));
}

TEST(LabCountTextTest, CsvHasExactIntegers) {
  const LabCounts counts = CompareLabCounts(Program(62), Program(1061));
  const std::string csv = report::LabDiffCsv({}, counts);
  EXPECT_THAT(csv, HasSubstr(",least_before,most_before,least_after,most_after,regression"));
  EXPECT_THAT(csv, HasSubstr("libsqlite3.so.0,prepare,,calls_per_run,more,,,,,,,6,6,,,,,,,62,62,"
                             "1061,1061,true"));
}

}  // namespace
}  // namespace fieldcost::analysis

#include "tools/analysis/requirement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/wire/lab_samples.h"
#include "tools/report/lab/requirement_text.h"

namespace fieldcost::analysis {
namespace {

using ::testing::HasSubstr;
using wire::LabTableBuilder;

constexpr auto kCalls = stats::Metric::kCallsPerRun;
constexpr auto kBytes = stats::Metric::kAllocInclusive;
constexpr std::uint64_t kMs = 1'000'000;

Requirement Require(RequiredFigure figure, std::uint64_t most, const std::string& name = "f") {
  return {.name = name, .globs = "*!" + name, .figure = figure, .most = most};
}

JudgedRequirement JudgeOne(const Requirement& requirement, const wire::LabTable& table,
                           const LiveRuns& live = {}) {
  const std::vector<JudgedRequirement> judged = Judge(std::vector{requirement}, table, live);
  EXPECT_EQ(judged.size(), 1U);
  return judged.at(0);
}

// One run of a function whose calls take these times.
wire::LabTable Timed(const std::vector<std::uint64_t>& times) {
  LabTableBuilder builder;
  builder.Run("f", times).Stack({"f"}, times.size(), 0);
  builder.Total("f", kCalls, times.size(), times.size()).Total("f", kBytes, 0, 0);
  return builder.Table();
}

std::vector<std::uint64_t> Times(std::size_t fast, std::uint64_t fast_ns, std::size_t slow,
                                 std::uint64_t slow_ns) {
  std::vector<std::uint64_t> times(fast, fast_ns);
  times.insert(times.end(), slow, slow_ns);
  return times;
}

TEST(RequirementTest, ReadsLimitsExactly) {
  const auto ns = [](std::string_view text) {
    return ParseLimit(text, RequiredFigure::kP99).value_or(77);
  };
  EXPECT_EQ(ns("1ms"), kMs);
  EXPECT_EQ(ns("1 ms"), kMs);
  EXPECT_EQ(ns("0.000001 s"), 1000U);
  EXPECT_EQ(ns("2.5us"), 2500U);
  EXPECT_EQ(ns("2.5µs"), 2500U);
  EXPECT_EQ(ns("0 ns"), 0U);
  for (const char* wrong : {"", "1", "ms", "1 m", "-1 ms", "1.5 ns", "1..5 ms", ".5 ms", "1e3 ms",
                            "1 msx", " 1 ms", "99999999999 s", "0.0000000001 s"}) {
    EXPECT_EQ(ns(wrong), 77U) << wrong;
  }
  EXPECT_EQ(ParseLimit("1.5 KiB", RequiredFigure::kAllocated).value(), 1536U);
  EXPECT_EQ(ParseLimit("0 B", RequiredFigure::kDiskRead).value(), 0U);
  EXPECT_FALSE(ParseLimit("1 KB", RequiredFigure::kAllocated));
  EXPECT_FALSE(ParseLimit("1 ms", RequiredFigure::kAllocated));
  EXPECT_EQ(ParseLimit("12", RequiredFigure::kCalls).value(), 12U);
}

TEST(RequirementTest, QuantilesAreJudgedByTheirRank) {
  // 1 call of 100 may be slow, 2 may not.
  const auto one = JudgeOne(Require(RequiredFigure::kP99, kMs), Timed(Times(99, 1000, 1, 9 * kMs)));
  EXPECT_EQ(one.verdict, RequiredVerdict::kMet);
  const auto two = JudgeOne(Require(RequiredFigure::kP99, kMs), Timed(Times(98, 1000, 2, 9 * kMs)));
  EXPECT_EQ(two.verdict, RequiredVerdict::kViolated);
  EXPECT_NEAR(*two.measured, 9e6, 1);
  const auto half =
      JudgeOne(Require(RequiredFigure::kP50, kMs), Timed(Times(50, 1000, 50, 9 * kMs)));
  EXPECT_EQ(half.verdict, RequiredVerdict::kMet);
}

TEST(RequirementTest, ALimitWithinTheUncertaintyIsNotDecided) {
  // All calls are in the bucket from 2^20 to 2^21 ns.
  std::vector<std::uint64_t> times;
  for (std::uint64_t i = 0; i < 200; ++i) times.push_back(1'100'000 + 4'000 * i);
  const auto near = JudgeOne(Require(RequiredFigure::kP99, 1'800'000), Timed(times));
  EXPECT_EQ(near.verdict, RequiredVerdict::kNotMeasured);
  EXPECT_THAT(near.why, HasSubstr("too close"));
  EXPECT_EQ(JudgeOne(Require(RequiredFigure::kP99, 1 << 21), Timed(times)).verdict,
            RequiredVerdict::kMet);
  EXPECT_EQ(JudgeOne(Require(RequiredFigure::kP99, 1'000'000), Timed(times)).verdict,
            RequiredVerdict::kViolated);
}

TEST(RequirementTest, TooFewCallsAreNotMeasured) {
  EXPECT_EQ(JudgeOne(Require(RequiredFigure::kP99, kMs), Timed(Times(99, 1, 0, 0))).why,
            "99 of the 100 calls that it needs were timed");
  EXPECT_EQ(JudgeOne(Require(RequiredFigure::kP95, kMs), Timed(Times(19, 1, 0, 0))).verdict,
            RequiredVerdict::kNotMeasured);
  EXPECT_EQ(JudgeOne(Require(RequiredFigure::kP95, kMs), Timed(Times(20, 1, 0, 0))).verdict,
            RequiredVerdict::kMet);
  EXPECT_EQ(JudgeOne(Require(RequiredFigure::kP50, kMs), Timed(Times(1, 1, 0, 0))).verdict,
            RequiredVerdict::kNotMeasured);
}

TEST(RequirementTest, MeansAndTotalsAreExact) {
  const wire::LabTable table = Timed({1000, 3000});
  EXPECT_EQ(JudgeOne(Require(RequiredFigure::kMean, 2000), table).verdict, RequiredVerdict::kMet);
  EXPECT_EQ(JudgeOne(Require(RequiredFigure::kMean, 1999), table).verdict,
            RequiredVerdict::kViolated);
  EXPECT_EQ(JudgeOne(Require(RequiredFigure::kCalls, 2), table).verdict, RequiredVerdict::kMet);
  EXPECT_EQ(JudgeOne(Require(RequiredFigure::kCalls, 1), table).verdict,
            RequiredVerdict::kViolated);
  EXPECT_EQ(JudgeOne(Require(RequiredFigure::kAllocated, 0), table).verdict, RequiredVerdict::kMet);
}

TEST(RequirementTest, ASingleByteInTheWorstRunViolatesZeroBytes) {
  LabTableBuilder builder;
  builder.Run("f", std::vector<std::uint64_t>(1000, 10)).Stack({"f"}, 1000, 0);
  builder.Total("f", kCalls, 1000, 1000).Total("f", kBytes, 0, 1);
  EXPECT_EQ(JudgeOne(Require(RequiredFigure::kAllocated, 0), builder.Table()).verdict,
            RequiredVerdict::kViolated);
}

TEST(RequirementTest, UnknownBytesAreNotMeasured) {
  const auto judged = JudgeOne(Require(RequiredFigure::kDiskRead, 0), Timed({1000}));
  EXPECT_EQ(judged.verdict, RequiredVerdict::kNotMeasured);
  EXPECT_EQ(judged.measured, std::nullopt);
}

TEST(RequirementTest, GrowthIsWhatTheLastCallsOfARunAddAgain) {
  const wire::LabTable table = Timed({1000});
  const stats::ApiKey& api = table.apis.at(0).api;
  const auto verdict = [&](std::vector<std::optional<LiveBytes>> runs) {
    const LiveRuns live = {{{api.soname, api.symbol, api.symbol_version}, std::move(runs)}};
    return JudgeOne(Require(RequiredFigure::kGrowing, 0), table, live).verdict;
  };
  const LiveBytes level{.calls = 100, .middle = 0, .last = 0};
  const LiveBytes filled{.calls = 100, .middle = 4096, .last = 0};
  const LiveBytes growing{.calls = 100, .middle = 64, .last = 16};
  const LiveBytes late{.calls = 100, .middle = 0, .last = 16};
  const LiveBytes shrinking{.calls = 100, .middle = 64, .last = -1};
  const LiveBytes few{.calls = 7, .middle = 0, .last = 0};
  EXPECT_EQ(verdict({level, level}), RequiredVerdict::kMet);
  EXPECT_EQ(verdict({filled}), RequiredVerdict::kMet);
  EXPECT_EQ(verdict({shrinking}), RequiredVerdict::kMet);
  EXPECT_EQ(verdict({level, growing}), RequiredVerdict::kViolated);
  EXPECT_EQ(verdict({growing, std::nullopt}), RequiredVerdict::kViolated);
  EXPECT_EQ(verdict({level, late}), RequiredVerdict::kNotMeasured);
  EXPECT_EQ(verdict({level, few}), RequiredVerdict::kNotMeasured);
  EXPECT_EQ(verdict({level, std::nullopt}), RequiredVerdict::kNotMeasured);
  EXPECT_EQ(verdict({}), RequiredVerdict::kNotMeasured);
}

TEST(RequirementTest, EachFunctionThatANameMatchesIsJudged) {
  LabTableBuilder builder;
  for (const char* name : {"f1", "f2", "g"}) {
    builder.Run(name, {10}).Stack({name}, 1, 0).Total(name, kCalls, 1, 1);
  }
  const std::vector<Requirement> requirements = {Require(RequiredFigure::kCalls, 1, "f*"),
                                                 Require(RequiredFigure::kCalls, 1, "h")};
  const std::vector<JudgedRequirement> judged = Judge(requirements, builder.Table(), {});
  ASSERT_EQ(judged.size(), 3U);
  EXPECT_EQ(judged[0].api.symbol, "f1");
  EXPECT_EQ(judged[1].api.symbol, "f2");
  EXPECT_EQ(judged[2].verdict, RequiredVerdict::kNotMeasured);
  EXPECT_EQ(Overall(judged), RequiredVerdict::kNotMeasured);
  EXPECT_THAT(report::RequirementText(judged, {}),
              HasSubstr("3 requirements: 1 not measured, 2 met\n"));
}

}  // namespace
}  // namespace fieldcost::analysis

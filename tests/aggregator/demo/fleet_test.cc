#include "aggregator/demo/fleet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "aggregator/demo/fixed_point.h"
#include "common/stats/contribution.h"

namespace fieldcost::demo {
namespace {

TEST(FixedPointTest, PowersOfTwoAreRightToTheLastUnit) {
  for (std::int64_t octaves_q16 = 0; octaves_q16 < 45 * kOctaveQ16; octaves_q16 += 4099) {
    const double exact = std::exp2(static_cast<double>(octaves_q16) / kOctaveQ16);
    EXPECT_NEAR(static_cast<double>(Exp2Q16(octaves_q16)), std::floor(exact), 1.0) << octaves_q16;
  }
  EXPECT_EQ(Exp2Q16(-1), 1U);
  EXPECT_EQ(Exp2Q16(std::int64_t{60} * kOctaveQ16), std::uint64_t{1} << kMaxOctaves);
}

TEST(FixedPointTest, NormalNumbersHaveMeanZeroAndDeviationOne) {
  Random random(7);
  double sum = 0;
  double squares = 0;
  constexpr int kDraws = 40'000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.NormalQ16() / 65536.0;
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1, 0.03);
}

TEST(FixedPointTest, EveryPartOfItsNameMakesAnotherStream) {
  std::set<std::uint64_t> firsts;
  for (unsigned seed = 0; seed < 10; ++seed) {
    for (unsigned part = 0; part < 10; ++part) {
      firsts.insert(Random(seed, part, 1).Next());
      firsts.insert(Random(seed, 1, part + 10).Next());
    }
  }
  EXPECT_EQ(firsts.size(), 200U);
}

TEST(FleetTest, ABatchFollowsFromTheSeedAlone) {
  const FleetOptions options{.seed = 3, .agents = 24};
  const wire::BatchContent batch = Fleet(options).BatchOf(5, options.last_week);
  EXPECT_EQ(Fleet(options).BatchOf(5, options.last_week), batch);
  EXPECT_NE(Fleet(options).BatchOf(6, options.last_week), batch);
  EXPECT_NE(Fleet(options).BatchOf(5, options.last_week - 1), batch);
  EXPECT_NE(Fleet({.seed = 4, .agents = 24}).BatchOf(5, options.last_week), batch);
  // The number of other agents makes no difference.
  EXPECT_EQ(Fleet({.seed = 3, .agents = 480}).BatchOf(5, options.last_week), batch);
}

TEST(FleetTest, EveryCompilerMakesTheSameBits) {
  stats::Uint128 sum = 0;
  std::uint64_t count = 0;
  for (const wire::BatchRow& row : Fleet({}).BatchOf(0, kDefaultLastWeek).rows) {
    sum += row.histogram.sum();
    count += row.histogram.count();
  }
  EXPECT_EQ(count, 108071U);
  EXPECT_EQ(static_cast<std::uint64_t>(sum), 517082694609U);
}

TEST(FleetTest, AllVersionsAreInUseAndInTheEndOnlyTheNewest) {
  const Fleet fleet({.seed = 1, .agents = 60});
  const FleetOptions& options = fleet.options();
  for (const LibraryModel& library : Libraries()) {
    std::set<std::size_t> upgrade_weeks;
    for (std::uint32_t agent = 0; agent < options.agents; ++agent) {
      std::size_t before = 0;
      for (std::uint32_t week = options.first_week(); week <= options.last_week; ++week) {
        const std::size_t version = fleet.VersionOf(library, agent, week);
        EXPECT_GE(version, before);
        if (version != before) upgrade_weeks.insert(week);
        before = version;
      }
      EXPECT_EQ(fleet.VersionOf(library, agent, options.first_week()), 0U);
      EXPECT_EQ(before, kVersions - 1);
    }
    EXPECT_EQ(upgrade_weeks.size(), 6U) << "not all at once";
  }
}

TEST(FleetTest, MachinesOfEachClassDifferAsMuchAsTheTablesSay) {
  const Fleet fleet({.seed = 1, .agents = 200});
  double sum = 0;
  double squares = 0;
  double machines = 0;
  for (std::uint32_t agent = 0; agent < 200; agent += 4) {  // all of one class
    const wire::BatchContent batch = fleet.BatchOf(agent, kDefaultLastWeek);
    EXPECT_EQ(batch.hardware, HardwareModels()[0].hardware);
    for (const wire::BatchRow& row : batch.rows) {
      if (row.api.symbol != "sqlite3_reset" || row.metric != stats::Metric::kWallTime) continue;
      const auto scalars = stats::ScalarsOf(row.histogram);
      const double mean = static_cast<double>(static_cast<std::int64_t>(scalars.sum_mean)) / 65536;
      sum += mean;
      squares += mean * mean;
      ++machines;
    }
  }
  ASSERT_GT(machines, 25);
  const double deviation = std::sqrt(squares / machines - sum / machines * (sum / machines));
  EXPECT_NEAR(deviation, 0.25, 0.1);
}

TEST(FleetTest, EachStepOfALibraryHasOneRegressionAndOneImprovement) {
  for (const LibraryModel& library : Libraries()) {
    for (std::size_t version = 1; version < kVersions; ++version) {
      int regressions = 0;
      int improvements = 0;
      for (const ApiModel& api : library.apis) {
        const std::uint32_t before = CostPercent(library, version - 1, api.symbol);
        const std::uint32_t after = CostPercent(library, version, api.symbol);
        regressions += after > before ? 1 : 0;
        improvements += after < before ? 1 : 0;
      }
      EXPECT_EQ(regressions, 1) << library.soname << version;
      EXPECT_EQ(improvements, 1) << library.soname << version;
    }
  }
}

}  // namespace
}  // namespace fieldcost::demo

#include "agent/preload/load.h"

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "tests/agent/preload/collection_fixture.h"

// Whether the machine was busy when a run began.

namespace fieldcost::testing {
namespace {

using preload::IsMuch;
using preload::IsTooMuch;

TEST(LoadClassTest, MuchIsHalfOfTooMuch) {
  shm::PolicyHeader policy{};
  policy.max_load_per_core_percent = 60;
  policy.max_cpu_pressure_percent = 10;
  EXPECT_FALSE(IsMuch(policy, {.load_percent = 30, .pressure_hundredths = 500}));
  EXPECT_TRUE(IsMuch(policy, {.load_percent = 31, .pressure_hundredths = 0}));
  EXPECT_TRUE(IsMuch(policy, {.load_percent = 0, .pressure_hundredths = 501}));
  EXPECT_FALSE(IsTooMuch(policy, {.load_percent = 60, .pressure_hundredths = 1000}));
  EXPECT_TRUE(IsTooMuch(policy, {.load_percent = 61, .pressure_hundredths = 0}));
  EXPECT_TRUE(IsTooMuch(policy, {.load_percent = 0, .pressure_hundredths = 1001}));
}

TEST(LoadClassTest, WithoutALimitNoLoadIsTooHighButSomeIsHigh) {
  const shm::PolicyHeader policy{};
  EXPECT_FALSE(IsTooMuch(policy, {.load_percent = 10000, .pressure_hundredths = 10000}));
  EXPECT_FALSE(IsMuch(policy, {.load_percent = 40, .pressure_hundredths = 1000}));
  EXPECT_TRUE(IsMuch(policy, {.load_percent = 41, .pressure_hundredths = 0}));
  EXPECT_TRUE(IsMuch(policy, {.load_percent = 0, .pressure_hundredths = 1001}));
}

TEST_F(CollectionTest, RecordsWhetherARunBeganOnABusyMachine) {
  SetPolicy({.max_load_per_core_percent = 80, .max_cpu_pressure_percent = 20});
  const auto run_with = [this](const std::string& load, const std::string& pressure) {
    RemoveRunFiles();
    const std::filesystem::path load_file = state_dir_.path() / "loadavg";
    const std::filesystem::path pressure_file = state_dir_.path() / "pressure";
    std::ofstream(load_file) << load << " 9.00 9.00 1/1 1\n";
    std::ofstream(pressure_file) << "some avg10=" << pressure << " avg60=99.00 avg300=0 total=1\n";
    const std::string script =
        "mount --bind $1 /proc/loadavg && mount --bind $2 /proc/pressure/cpu && "
        "LD_PRELOAD=$3 FIELDCOST_STATE_DIR=$4 exec taskset -c $(taskset -cp $$ | sed 's/.*[ "
        ",-]//') "
        "$5 all";
    return RunProcess({.arguments = {"unshare", "-m", "/bin/sh", "-c", script, "sh",
                                     load_file.string(), pressure_file.string(), kLibrary,
                                     state_dir_.path().string(), kVictims + "tally"}});
  };
  const ProcessResult quiet = run_with("0.40", "10.00");
  if (quiet.exit_status != 0) GTEST_SKIP() << "cannot mount over /proc: " << quiet.errors;
  const auto is_busy = [this] {
    const auto runs = RunFiles();
    EXPECT_EQ(runs.size(), 1U);
    return runs.size() == 1 && (runs[0].picks.at(0).flags & shm::kPickBusy) != 0;
  };
  EXPECT_FALSE(is_busy());
  EXPECT_EQ(run_with("0.41", "0.00").exit_status, 0);
  EXPECT_TRUE(is_busy());
  EXPECT_EQ(run_with("0.00", "10.01").exit_status, 0);
  EXPECT_TRUE(is_busy());
  EXPECT_EQ(run_with("0.81", "0.00").exit_status, 0);
  EXPECT_TRUE(RunFiles().empty());
}

}  // namespace
}  // namespace fieldcost::testing

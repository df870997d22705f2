#include <fmt/format.h>

#include <optional>
#include <random>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/collection_fixture.h"

// Runs that are measured on request, in addition to those selected at random.

namespace fieldcost::testing {
namespace {

using ::testing::SizeIs;

TEST_F(CollectionTest, MeasuresRequestedRunsRegardlessOfTheCoin) {
  SetPolicy({.modules = {"libtally.so.1", "libc.so.6"},
             .selection_per_65536 = 0,
             .max_load_per_core_percent = 0});
  ASSERT_EQ(RunProcess(Tally({"all"})).exit_status, 0);
  EXPECT_TRUE(RunFiles().empty());
  ProcessOptions asked = Tally({"all"});
  asked.environment.emplace_back("FIELDCOST_ASKED", "1");
  ASSERT_EQ(RunProcess(asked).exit_status, 0);
  const auto runs = RunFiles();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].header.flags, shm::kRunAsked);
  EXPECT_EQ(runs[0].header.time_per_65536, 0U) << "it represents no others";
  EXPECT_GT(runs[0].picks.size(), 1U);
  EXPECT_LE(runs[0].picks.size(), 32U);
}

TEST_F(CollectionTest, ARunThatTheCoinChoseIsLikeAnyOtherThoughItIsAskedFor) {
  SetPolicy({});
  ProcessOptions asked = Tally({"all"});
  asked.environment.emplace_back("FIELDCOST_ASKED", "1");
  ASSERT_EQ(RunProcess(asked).exit_status, 0);
  const auto runs = RunFiles();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].header.flags, 0U);
  EXPECT_NE(runs[0].header.time_per_65536, 0U);
  EXPECT_EQ(runs[0].picks.back().picks_wanted, 1U);
}

class AskedTest : public CollectionTest {
 protected:
  ProcessOptions Asked(std::uint64_t request_id = 1) const {
    ProcessOptions asked = Tally({"all"});
    asked.environment.emplace_back("FIELDCOST_ASKED", std::to_string(request_id));
    return asked;
  }

  // Runs it and removes its run file; nullopt if it left none.
  std::optional<RunFileContent> RunAlone(const ProcessOptions& options) const {
    EXPECT_EQ(RunProcess(options).exit_status, 0);
    const auto runs = RunFiles();
    RemoveRunFiles();
    EXPECT_LE(runs.size(), 1U);
    return runs.empty() ? std::nullopt : std::optional(runs[0]);
  }
};

bool IsOfTheField(const std::optional<RunFileContent>& run) {
  return run && run->header.flags == 0;
}

// All content that determines how many runs it represents; times differ between runs.
std::string FieldedBits(const RunFileContent& run) {
  std::string bits = fmt::format("{} {} {}", run.header.selection_per_65536,
                                 run.header.time_per_65536, run.header.random_draw);
  for (std::uint32_t i = 0; i < run.picks.size(); ++i) {
    const shm::Pick& pick = run.picks[i];
    bits += fmt::format(
        "; {} calls {} weight {} of {} watched {} wanted {} order {} flags {} metrics {} "
        "stands for {}",
        pick.symbol, run.calls.at(pick.symbol), pick.weight, pick.weight_left,
        pick.watched_per_65536, pick.picks_wanted, pick.draw_order, pick.flags, pick.metrics,
        StandsFor(run, i));
  }
  return bits;
}

// With the same random numbers, a requested run contributes exactly the same bits to the field as
// the same run in a session: nothing, or one file. So requests do not change the expected value of
// what is sent.
TEST_F(AskedTest, RequestsChangeNoBitOfTheFieldsData) {
  std::mt19937_64 random(20261123);
  int of_the_field = 0;
  int of_the_request = 0;
  for (int i = 0; i < 150; ++i) {
    SetPolicy({.modules = {"libtally.so.1", "libc.so.6"},
               .weights = {{shm::ApiHash("libtally.so.1", "tally_once", ""), 9000, 0}},
               .selection_per_65536 = 16384,
               .picks_per_run = 1U + static_cast<std::uint32_t>(i % 3),
               .io_per_65536 = 6554,
               .default_weight = 3000,
               .draw_seed = random() | 1});
    const auto session = RunAlone(Tally({"all"}));
    const auto request = RunAlone(Asked());
    ASSERT_EQ(IsOfTheField(session), session.has_value());
    ASSERT_EQ(IsOfTheField(request), session.has_value());
    if (session) {
      ++of_the_field;
      ASSERT_EQ(FieldedBits(*request), FieldedBits(*session));
    } else if (request) {
      ++of_the_request;
      ASSERT_EQ(request->header.flags, shm::kRunAsked);
    }
  }
  EXPECT_GT(of_the_field, 20);
  EXPECT_GT(of_the_request, 80);
}

TEST_F(AskedTest, MeasuresRequestedRunsThatTheFieldHasNoRoomFor) {
  SetPolicy({.max_leases = 1});
  BackgroundProcess first(Tally({"hold"}));
  ASSERT_TRUE(first.WaitForLine("holding"));
  RemoveRunFiles();
  EXPECT_FALSE(RunAlone(Tally({"all"})));
  const auto asked = RunAlone(Asked());
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->header.flags, shm::kRunAsked);
  EXPECT_GT(asked->picks.size(), 1U);
}

TEST_F(AskedTest, RunsThatAreOnlyAskedForTakeNoPlaceOfTheField) {
  SetPolicy({.selection_per_65536 = 0, .max_run_files = 2, .max_leases = 1});
  ProcessOptions options = Asked();
  options.arguments.back() = "hold";
  BackgroundProcess holds(options);
  ASSERT_TRUE(holds.WaitForLine("holding"));
  for (int i = 0; i < 4; ++i) ASSERT_EQ(RunProcess(Asked()).exit_status, 0);
  EXPECT_THAT(RunFiles(), SizeIs(5)) << "beyond the limits of the field";
  SetPolicy({.max_run_files = 2, .max_leases = 1});
  ASSERT_EQ(RunProcess(Tally({"all"})).exit_status, 0);
  EXPECT_THAT(RunFiles(), SizeIs(6)) << "which has its one lease and its two files";
  ASSERT_EQ(RunProcess(Tally({"all"})).exit_status, 0);
  ASSERT_EQ(RunProcess(Tally({"all"})).exit_status, 0);
  EXPECT_THAT(RunFiles(), SizeIs(7));
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kTooManyRunFiles), 1U);
}

TEST_F(AskedTest, MeasuresTheRequestedMetricsAndNamesTheRequest) {
  SetPolicy({.selection_per_65536 = 0, .io_per_65536 = 65536});
  ProcessOptions options = Asked(1234567890123456789);
  const auto timed = RunAlone(options);
  ASSERT_TRUE(timed);
  EXPECT_EQ(timed->header.request_id, 1234567890123456789U);
  EXPECT_EQ(timed->picks.at(0).metrics, shm::kTimeMetrics) << "times are the default";
  options.environment.emplace_back("FIELDCOST_METRICS", "time,alloc");
  EXPECT_EQ(RunAlone(options)->picks.at(0).metrics, shm::kTimeMetrics | shm::kAllocMetrics);
  for (const char* nobody : {"0", "", "x", "1x", "-1", "12345678901234567890"}) {
    ProcessOptions asked = Tally({"all"});
    asked.environment.emplace_back("FIELDCOST_ASKED", nobody);
    EXPECT_FALSE(RunAlone(asked)) << nobody;
  }
}

TEST_F(AskedTest, MeasuresLibrariesLoadedByDlopen) {
  SetPolicy({.modules = {"libvictim_plugin_base.so", "libvictim.so.1", "libtally.so.1"},
             .selection_per_65536 = 0});
  ProcessOptions options = Asked();
  options.arguments = {kVictims + "tally", "plugin", "1"};
  const auto run = RunAlone(options);
  ASSERT_TRUE(run);
  std::set<std::string> libraries;
  for (const shm::Pick& pick : run->picks) libraries.insert(pick.soname);
  EXPECT_TRUE(libraries.contains("libtally.so.1"));
  EXPECT_TRUE(libraries.contains("libvictim.so.1")) << "that came later";
}

TEST_F(AskedTest, RunsThatAreNotDrawnAreCounted) {
  SetPolicy({.selection_per_65536 = 0});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(RunAlone(Tally({"all"})));
  EXPECT_TRUE(RunAlone(Asked()));
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kNotDrawn), 3U);
}

}  // namespace
}  // namespace fieldcost::testing

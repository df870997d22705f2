#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "common/shm/selection.h"
#include "tests/agent/preload/preload_fixture.h"

namespace fieldcost::testing {

// A policy that speeds up time: each tick of the time stamp counter counts as a microsecond, so
// that a phase of a second ends after a million ticks, in less than a millisecond.
inline constexpr std::uint64_t kFastClock = std::uint64_t{1000} << 32;

class CollectionTest : public PreloadTest {
 protected:
  void SetPolicy(TestPolicy policy, std::uint32_t alloc_per_65536 = 0) const {
    if (policy.modules.empty()) policy.modules = {"libtally.so.1"};
    policy.alloc_per_65536 = alloc_per_65536;
    MakeStateDirectory(state_dir_.path(), policy);
  }

  ProcessOptions Tally(std::vector<std::string> arguments, const std::string& pick = "") const {
    arguments.insert(arguments.begin(), kVictims + "tally");
    ProcessOptions options = Measured(std::move(arguments), pick);
    options.environment.pop_back();  // removes the metrics, or the pick
    if (!pick.empty()) options.environment.back() = {"FIELDCOST_PICK", pick};
    return options;
  }

  // Runs tally with different draws until it measures this function; returns that run.
  RunFileContent RunPicking(const std::string& symbol, TestPolicy policy,
                            const std::vector<std::string>& arguments,
                            std::uint32_t alloc_per_65536 = 0) const {
    policy.weights = {{shm::ApiHash("libtally.so.1", symbol.c_str(), ""), shm::kFullWeight, 0}};
    policy.default_weight = 1;
    for (policy.draw_seed = 1; policy.draw_seed < 20; ++policy.draw_seed) {
      SetPolicy(policy, alloc_per_65536);
      EXPECT_EQ(RunProcess(Tally(arguments)).exit_status, 0);
      const auto runs = RunFiles();
      if (runs.size() == 1 && runs[0].picks.size() == 1 && symbol == runs[0].picks[0].symbol) {
        return runs[0];
      }
      RemoveRunFiles();
    }
    ADD_FAILURE() << symbol << " is not drawn";
    return {};
  }

  // The picks of the only run so far; it may continue, but not pick during this call.
  std::vector<shm::Pick> PicksUntilNow() const {
    const std::filesystem::directory_iterator runs(state_dir_.path() / "runs");
    std::ifstream file(runs->path(), std::ios::binary);
    shm::RunHeader header{};
    file.read(reinterpret_cast<char*>(&header), sizeof header);
    std::vector<shm::Pick> picks(header.pick_count);
    file.read(reinterpret_cast<char*>(picks.data()),
              static_cast<std::streamsize>(picks.size() * sizeof picks[0]));
    EXPECT_TRUE(file.good());
    return picks;
  }

  void RemoveRunFiles() const {
    for (const auto& entry : std::filesystem::directory_iterator(state_dir_.path() / "runs")) {
      std::filesystem::remove(entry.path());
    }
  }
};

// The number of runs that a pick represents, computed from the run's own file.
inline std::uint32_t StandsFor(const RunFileContent& run, std::uint32_t index) {
  const shm::Pick& pick = run.picks[index];
  return shm::RunsStoodFor(
      {.weight_left = pick.weight_left,
       .weight = pick.weight,
       .wanted = pick.picks_wanted,
       .order = pick.draw_order,
       .watched_per_65536 = pick.watched_per_65536},
      {.run = run.header.selection_per_65536, .time = run.header.time_per_65536},
      shm::RoundingBits(run.header.random_draw, index));
}

}  // namespace fieldcost::testing

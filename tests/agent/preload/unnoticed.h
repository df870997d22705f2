#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/agent/preload/preload_fixture.h"

namespace fieldcost::testing {

// Programs that run with and without the library, and must not know the difference.
class UnnoticedTest : public PreloadTest {
 protected:
  // Runs the command both ways, with more in both environments if `environment` says so. Returns
  // how it ended without the library.
  ProcessResult ExpectUnnoticed(
      const std::vector<std::string>& command, const std::string& pick,
      const std::vector<std::pair<std::string, std::string>>& environment = {}) {
    const ProcessResult plain = RunProcess({.arguments = command, .environment = environment});
    ProcessOptions options = Measured(command, pick);
    options.environment.insert(options.environment.end(), environment.begin(), environment.end());
    const ProcessResult measured = RunProcess(options);
    EXPECT_EQ(measured.output, plain.output);
    EXPECT_EQ(measured.errors, plain.errors);
    EXPECT_EQ(measured.exit_status, plain.exit_status);
    EXPECT_EQ(measured.signal, plain.signal);
    return plain;
  }

  // What the only run file says; reading one with hundreds of picks takes its time.
  RunFileContent OnlyRun() const {
    std::vector<RunFileContent> runs = RunFiles();
    EXPECT_EQ(runs.size(), 1U);
    return runs.empty() ? RunFileContent{} : std::move(runs[0]);
  }
  std::uint64_t Measurements(const std::string& symbol) const {
    return OnlyRun().Of(symbol, shm::Metric::kWallTime).count;
  }
  // Of processes in which something was picked; others may wait for libraries that never come.
  std::size_t RunFileCount() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(state_dir_.path() / "runs")) {
      shm::RunHeader header{};
      std::ifstream(entry.path(), std::ios::binary)
          .read(reinterpret_cast<char*>(&header), sizeof header);
      count += header.pick_count > 0;
    }
    return count;
  }
};

}  // namespace fieldcost::testing

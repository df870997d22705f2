#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/agent/preload/preload_fixture.h"

namespace fieldcost::testing {

// Runs programs without the library, with every call timed, and with one call in 16 timed; they
// must not notice the difference.
class UnnoticedTest : public PreloadTest {
 protected:
  UnnoticedTest() {
    MakeStateDirectory(sampled_state_dir_.path(),
                       {.modules = {"libvictim.so.1"}, .sampling_log2 = 4});
  }

  // Runs the command in all three ways, with `environment` added to each environment. Returns the
  // result of the run without the library. The sampled run has its own state directory.
  ProcessResult ExpectUnnoticed(
      const std::vector<std::string>& command, const std::string& pick,
      const std::vector<std::pair<std::string, std::string>>& environment = {}) {
    const ProcessResult plain = RunProcess({.arguments = command, .environment = environment});
    ProcessOptions options = Measured(command, pick);
    options.environment.insert(options.environment.end(), environment.begin(), environment.end());
    ExpectSame(RunProcess(options), plain, "every call timed");
    options.environment.emplace_back("FIELDCOST_STATE_DIR", sampled_state_dir_.path().string());
    ExpectSame(RunProcess(options), plain, "one call in 16 timed");
    return plain;
  }

  static void ExpectSame(const ProcessResult& measured, const ProcessResult& plain,
                         const char* how) {
    EXPECT_EQ(measured.output, plain.output) << how;
    EXPECT_EQ(measured.errors, plain.errors) << how;
    EXPECT_EQ(measured.exit_status, plain.exit_status) << how;
    EXPECT_EQ(measured.signal, plain.signal) << how;
  }

  // The content of the only run file; slow for hundreds of picks.
  RunFileContent OnlyRun() const {
    std::vector<RunFileContent> runs = RunFiles();
    EXPECT_EQ(runs.size(), 1U);
    return runs.empty() ? RunFileContent{} : std::move(runs[0]);
  }
  std::uint64_t Measurements(const std::string& symbol) const {
    return OnlyRun().Of(symbol, shm::Metric::kWallTime).count;
  }
  // Run files of processes with picks; others may wait for libraries that are never loaded.
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

 private:
  TempDir sampled_state_dir_{kMemory};
};

}  // namespace fieldcost::testing

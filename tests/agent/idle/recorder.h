#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/idle/idle_probe.h"
#include "tests/agent/idle/no_idle_cpu.h"
#include "tests/agent/idle/recorded_idle.h"
#include "tests/support/binary_dir.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait_until.h"

namespace fieldcost::idle_agent::testing {

inline constexpr char kRecorder[] = FIELDCOST_BINARY_DIR "/bin/fieldcost-idle";

inline std::string Victim(const std::string& name) {
  return FIELDCOST_BINARY_DIR "/victims/" + name;
}

// In percent of the sum.
inline double Share(std::uint64_t part, std::uint64_t sum) {
  return sum == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(sum);
}

// Runs fieldcost-idle.
class RecorderTest : public ::testing::Test {
 protected:
  using Words = std::vector<std::string>;
  using RecordedIdle = idle::testing::RecordedIdle;

  fieldcost::testing::ProcessResult Record(const std::string& mode, const Words& more,
                                           bool as_nobody = false) {
    Words words;
    if (as_nobody) {
      std::filesystem::permissions(directory_.path(), std::filesystem::perms::all);
      words = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
    }
    words.insert(words.end(), {kRecorder, "--output", file_, "--mode", mode});
    words.insert(words.end(), more.begin(), more.end());
    return fieldcost::testing::RunProcess({.arguments = words});
  }

  // Other processes may use the CPUs, which are then idle less often. Records again, with the
  // program pinned to another CPU and twice the rounds, until the recording is sufficient. Gives
  // up after kMostPatience, or as soon as the kernel's own count shows that no CPU is ever idle.
  // Returns nullopt if no recording was sufficient (WhyNever() is the reason) or if the recorder
  // failed. `result_` is that of the last recorder.
  struct Try {
    std::string cpu;
    int times = 1;  // the usual rounds
    std::string Rounds(int usual) const { return std::to_string(usual * times); }
  };
  using RecordOn = std::function<fieldcost::testing::ProcessResult(const Try&)>;
  using IsEnough = std::function<bool(const RecordedIdle&)>;
  std::optional<RecordedIdle> RecordUntil(const IsEnough& is_enough, const RecordOn& record) {
    const std::vector<std::uint32_t> cpus = UsableCpus();
    const auto deadline = std::chrono::steady_clock::now() + fieldcost::testing::kMostPatience;
    constexpr int kMostTimes = 4;
    Try next;
    for (std::size_t i = 0;; ++i, next.times = std::min(2 * next.times, kMostTimes)) {
      next.cpu = std::to_string(cpus.at(i % cpus.size()));
      result_ = record(next);
      if (result_.exit_status != 0) return std::nullopt;
      RecordedIdle recorded(file_);
      if (is_enough(recorded)) return recorded;
      if (no_idle_cpu_.IsProven() || std::chrono::steady_clock::now() >= deadline) {
        return std::nullopt;
      }
    }
  }
  std::string WhyNever() const { return no_idle_cpu_.Reason(); }

  fieldcost::testing::TempDir directory_;
  std::string file_ = directory_.path() / "a.fct";
  fieldcost::testing::ProcessResult result_;
  NoIdleCpu no_idle_cpu_;
};

}  // namespace fieldcost::idle_agent::testing

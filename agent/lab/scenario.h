#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/base/run_input.h"

namespace fieldcost::lab {

// Runs of the scenario's command.

enum class OutputMode {
  kPipe,     // drained and hashed
  kNull,     // /dev/null
  kInherit,  // ours
};

struct ScenarioOptions {
  std::vector<std::string> command;  // [0] is looked up in PATH
  std::shared_ptr<RunInput> input;   // of each run; null: nothing
  OutputMode output = OutputMode::kPipe;
  std::optional<std::chrono::milliseconds> timeout;  // of a run
  // Loaded into its programs before whatever else is; empty = nothing.
  std::filesystem::path library;
  // Added to our environment, in place of what is there.
  std::vector<std::pair<std::string, std::string>> environment;
  // Called with the command's process id again and again while it runs; empty: nothing.
  std::function<void(pid_t command)> look = {};
};

struct ScenarioRun {
  int status = 0;           // exit status; 128 + N if signal N ended it
  std::string output_hash;  // SHA-256 of the standard output; empty unless it was drained
  std::string last_errors;  // the end of the standard error
  std::uint64_t wall_ns = 0;
  std::uint64_t involuntary_switches = 0;  // of the command and what it waited for
  bool timed_out = false;                  // and was killed
  bool interrupted = false;                // by Interrupt(), and was killed
};

// Runs the command once, in a process group of its own, and waits for it; nothing
// that it started is left alive in that group if it is killed. The library that measures for the
// field is taken out: two would measure each other, and what is asked for is not for the field.
// kNotFound, kIo ...
Result<ScenarioRun> RunScenario(const ScenarioOptions& options);

// A shell command (--prepare, --cleanup): its exit status.
Result<int> RunShell(const std::string& command);

// From a signal handler: ends the run that is on, and all later ones at once.
void Interrupt();
bool IsInterrupted();

}  // namespace fieldcost::lab

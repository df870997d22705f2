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
  kInherit,  // this process's
};

struct ScenarioOptions {
  std::vector<std::string> command;  // [0] is looked up in PATH
  std::shared_ptr<RunInput> input;   // standard input of each run; null: none
  OutputMode output = OutputMode::kPipe;
  std::optional<std::chrono::milliseconds> timeout;  // per run
  // A library to preload into its programs before all other libraries; empty: none.
  std::filesystem::path library;
  // Added to this process's environment, replacing existing variables.
  std::vector<std::pair<std::string, std::string>> environment;
  // Called repeatedly with the command's process id while it runs; may be empty.
  std::function<void(pid_t command)> look = {};
};

struct ScenarioRun {
  int status = 0;           // exit status; 128 + N if signal N ended it
  std::string output_hash;  // SHA-256 of the standard output; empty unless kPipe
  std::string last_errors;  // the end of the standard error
  std::uint64_t wall_ns = 0;
  std::uint64_t involuntary_switches = 0;  // of the command and its reaped children
  bool timed_out = false;                  // and was killed
  bool interrupted = false;                // by Interrupt(), and was killed
};

// Runs the command once, in its own process group, and waits for it. If it is killed, so is the
// whole group. The field's library is removed from LD_PRELOAD: the two would measure each other,
// and these runs are not meant for the field. Errors: kNotFound, kIo and others.
Result<ScenarioRun> RunScenario(const ScenarioOptions& options);

// Runs a shell command (--prepare, --cleanup). Returns its exit status.
Result<int> RunShell(const std::string& command);

// May be called by a signal handler. Ends the current run, and all later ones at once.
void Interrupt();
bool IsInterrupted();

}  // namespace fieldcost::lab

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/base/child_process.h"
#include "common/base/file.h"
#include "common/base/result.h"
#include "common/base/run_input.h"

namespace fieldcost::sampler {

// SIGINT, SIGTERM and SIGHUP go to the child that runs, and are remembered: for the whole process,
// from then on.
void HandleSignals();
int StoppedBy();  // the signal; 0: none so far

// The command line as one would type it; "" if it cannot be known.
std::string CommandOfProcess(pid_t pid);

// The standard input of a command that a recorder runs `runs` times; writes what users should know
// about it to stderr. Errors of RunInput::Open.
Result<RunInput> InputOfRuns(const std::filesystem::path& file, std::uint64_t runs);

// A child that becomes a command once it is told to, so that what looks at it can be prepared. One
// at a time. Moves; ended and waited for when this ends.
class CommandChild {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  // [0] is looked up in PATH. `input` is its standard input, as in ChildOptions. REQUIRES: one
  // thread.
  static Result<CommandChild> Prepare(const std::vector<std::string>& command,
                                      const Variables& variables, int input = kOurs);
  CommandChild(CommandChild&& other) noexcept;
  CommandChild& operator=(CommandChild&&) = delete;
  ~CommandChild();

  pid_t pid() const { return pid_; }
  void Go() { go_.Reset(); }
  void Kill() const;
  // Waits for its end, at most so long or until a signal; whether it has ended. It is not reaped.
  Result<bool> EndsWithin(std::chrono::milliseconds limit);
  // Its status, 128 and the signal that ended it; an error if it could not become the command.
  Result<int> Wait();

 private:
  CommandChild(std::string name, pid_t pid, UniqueFd go, UniqueFd why)
      : name_(std::move(name)), pid_(pid), go_(std::move(go)), why_(std::move(why)) {}

  std::string name_;
  pid_t pid_;         // 0: waited for
  UniqueFd process_;  // a pidfd, once it is asked for
  UniqueFd go_;
  UniqueFd why_;
};

}  // namespace fieldcost::sampler

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

namespace fieldcost::perf {

// Forwards SIGINT, SIGTERM and SIGHUP to the running child and remembers them, for the whole
// process from then on.
void HandleSignals();
int StoppedBy();  // the signal received; 0: none so far

// Returns the process's command line as typed in a shell; "" if unknown.
std::string CommandOfProcess(pid_t pid);

// Opens the standard input of a command that a recorder runs `runs` times; prints hints for the
// user to stderr. Returns the errors of RunInput::Open.
Result<RunInput> InputOfRuns(const std::filesystem::path& file, std::uint64_t runs);

// A child process that executes a command when requested, so that the recorder can be set up
// before. At most one at a time. Movable; the destructor ends the child and reaps it.
class CommandChild {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  // Forks the child. [0] is looked up in PATH. `input` is its standard input, as in ChildOptions.
  // REQUIRES: the process has one thread.
  static Result<CommandChild> Prepare(const std::vector<std::string>& command,
                                      const Variables& variables, int input = kOurs);
  CommandChild(CommandChild&& other) noexcept;
  CommandChild& operator=(CommandChild&&) = delete;
  ~CommandChild();

  pid_t pid() const { return pid_; }
  void Go() { go_.Reset(); }
  void Kill() const;
  // Waits for the child's end, at most `limit` or until a signal. Returns whether it has ended.
  // Does not reap it.
  Result<bool> EndsWithin(std::chrono::milliseconds limit);
  // Returns its exit status, or 128 plus the signal that ended it; an error if the command could
  // not be executed.
  Result<int> Wait();

 private:
  CommandChild(std::string name, pid_t pid, UniqueFd go, UniqueFd why)
      : name_(std::move(name)), pid_(pid), go_(std::move(go)), why_(std::move(why)) {}

  std::string name_;
  pid_t pid_;         // 0: reaped
  UniqueFd process_;  // a pidfd, opened on demand
  UniqueFd go_;
  UniqueFd why_;
};

}  // namespace fieldcost::perf

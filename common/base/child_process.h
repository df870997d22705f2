#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost {

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};
// Both ends close on exec. kIo.
Result<Pipe> MakePipe();

// A command line or an environment in the form of exec(3), which does not change it. REQUIRES:
// `words` outlives the result and is not modified.
std::vector<char*> ExecPointers(const std::vector<std::string>& words);

// Special values for a child's standard streams, instead of a descriptor.
inline constexpr int kOurs = -1;
inline constexpr int kNowhere = -2;  // /dev/null

struct ChildOptions {
  std::vector<std::string> arguments = {};  // [0] is looked up in PATH
  // "NAME=value" ...; nullopt: inherits this process's environment.
  std::optional<std::vector<std::string>> environment = std::nullopt;
  int input = kOurs;
  int output = kOurs;
  int errors = kOurs;
  bool leads_group = false;        // it becomes the leader of a new process group
  std::vector<int> restored = {};  // signals reset to their defaults, in addition to SIGPIPE
};
// Starts a program as a child process, with no signals blocked. kNotFound, kIo ...
Result<pid_t> StartChild(const ChildOptions& options);

// Waits for a child process to end; returns its status as in waitpid(2).
int Reap(pid_t child);

// The exit status as a shell reports it: if a signal ended the process, kSignalled plus its number.
inline constexpr int kSignalled = 128;
int ShellStatus(int wait_status);

}  // namespace fieldcost

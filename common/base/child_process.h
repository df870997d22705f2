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

// A command line, or an environment, as exec(3) takes it. REQUIRES: `words` outlive what is
// returned, and stay as they are; exec(3) does not change them.
std::vector<char*> ExecPointers(const std::vector<std::string>& words);

// What a child's standard input, output or errors may be beside a descriptor.
inline constexpr int kOurs = -1;
inline constexpr int kNowhere = -2;  // /dev/null

struct ChildOptions {
  std::vector<std::string> arguments = {};  // [0] is looked up in PATH
  // "NAME=value" ...; none: ours.
  std::optional<std::vector<std::string>> environment = std::nullopt;
  int input = kOurs;
  int output = kOurs;
  int errors = kOurs;
  bool leads_group = false;        // a process group of its own, of its number
  std::vector<int> restored = {};  // signals that we ignore and it shall not, beside SIGPIPE
};
// Starts a program beside this one, with no signals blocked. kNotFound, kIo ...
Result<pid_t> StartChild(const ChildOptions& options);

// Waits for the end of a child of ours; its status as waitpid(2) gives it.
int Reap(pid_t child);

// An exit status as a shell shows it: this, and the number of the signal that ended it.
inline constexpr int kSignalled = 128;
int ShellStatus(int wait_status);

}  // namespace fieldcost

#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::cli {

// Programs that this one starts beside itself: pagers, man(1).

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};
// Both ends close on exec. kIo.
Result<Pipe> MakePipe();

struct ChildOptions {
  std::vector<std::string> arguments;  // [0] is looked up in PATH
  int input = -1;                      // its standard input, output; -1 = ours
  int output = -1;
  bool quiet = false;  // its errors go to /dev/null
};
// Starts it with the signals as usual that this program ignores. kNotFound, kIo ...
Result<pid_t> StartChild(ChildOptions options);

// Its exit status, 128 + N if signal N ended it.
int WaitForChild(pid_t child);

// Writes until all is written or the child has read enough. SIGPIPE has to be ignored.
void Feed(int write_end, std::string_view text);

// While a pager runs, what is typed at it is its own business: ^C must not end us before it.
class IgnoreInterrupts {
 public:
  IgnoreInterrupts();
  ~IgnoreInterrupts();
  IgnoreInterrupts(const IgnoreInterrupts&) = delete;
  IgnoreInterrupts& operator=(const IgnoreInterrupts&) = delete;

 private:
  struct sigaction interrupt_ {};
  struct sigaction quit_ {};
};

}  // namespace fieldcost::cli

#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string_view>

#include "common/base/child_process.h"
#include "common/base/result.h"

namespace fieldcost::cli {

// Helper programs that fieldcost starts: pagers, man(1).

// Starts a program with the default handling of the signals that IgnoreInterrupts ignores.
// kNotFound, kIo ...
Result<pid_t> StartHelper(ChildOptions options);

// Waits and returns the exit status as a shell reports it.
inline int WaitForHelper(pid_t child) { return ShellStatus(Reap(child)); }

// Writes until everything is written or the child stops reading. REQUIRES: SIGPIPE is ignored.
void Feed(int write_end, std::string_view text);

// While a pager runs, it handles the keyboard, so ^C must not end this program before it.
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

#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string_view>

#include "common/base/child_process.h"
#include "common/base/result.h"

namespace fieldcost::cli {

// Programs that this one starts: pagers, man(1).

// Starts it with the signals as usual that IgnoreInterrupts has this program ignore. kNotFound, kIo
// ...
Result<pid_t> StartHelper(ChildOptions options);

// Its exit status as a shell shows it.
inline int WaitForHelper(pid_t child) { return ShellStatus(Reap(child)); }

// Writes until all is written or the child has read enough. SIGPIPE has to be ignored.
void Feed(int write_end, std::string_view text);

// While a pager runs, it handles the keyboard: ^C must not end this program before it.
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

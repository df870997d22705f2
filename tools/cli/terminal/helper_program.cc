#include "tools/cli/terminal/helper_program.h"

#include "common/base/write_all.h"

namespace fieldcost::cli {

Result<pid_t> StartHelper(ChildOptions options) {
  options.restored = {SIGINT, SIGQUIT};
  return StartChild(options);
}

void Feed(int write_end, std::string_view text) {
  (void)WriteAll(write_end, text);  // fails if the program has ended
}

IgnoreInterrupts::IgnoreInterrupts() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGINT, &ignore, &interrupt_);
  ::sigaction(SIGQUIT, &ignore, &quit_);
}

IgnoreInterrupts::~IgnoreInterrupts() {
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGQUIT, &quit_, nullptr);
}

}  // namespace fieldcost::cli

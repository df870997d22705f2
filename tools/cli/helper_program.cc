#include "tools/cli/helper_program.h"

#include <unistd.h>

#include <cerrno>

namespace fieldcost::cli {

Result<pid_t> StartHelper(ChildOptions options) {
  options.restored = {SIGINT, SIGQUIT};
  return StartChild(options);
}

void Feed(int write_end, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(write_end, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
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

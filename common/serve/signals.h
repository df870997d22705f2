#pragma once

#include <signal.h>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::serve {

// The signals that control a server: SIGTERM and SIGINT, which end it, and others.
class Signals {
 public:
  // Blocks them in the calling thread and in threads that it starts later, so that Wait() receives
  // them; ignores SIGPIPE. REQUIRES: no other thread has been started.
  explicit Signals(std::initializer_list<int> others);

  // Returns the next signal, or 0 after `limit`. Signals that end the server take precedence, so
  // that a stream of others cannot delay the end.
  int Wait(std::chrono::milliseconds limit) const;

  static bool IsEnd(int number) { return number == SIGTERM || number == SIGINT; }

 private:
  sigset_t all_{};
};

// Reloads `what` ("the certificate") by calling `read`; informs the log and the service manager.
void Reload(std::string_view what, const std::function<Status()>& read);

}  // namespace fieldcost::serve

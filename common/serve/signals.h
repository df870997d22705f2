#pragma once

#include <signal.h>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::serve {

// The signals by which a server is told what to do: SIGTERM and SIGINT, which end it, and others.
class Signals {
 public:
  // Blocks them in the calling thread and in those that it starts from now on, so that Wait() has
  // them; ignores SIGPIPE. REQUIRES: no other thread was started.
  explicit Signals(std::initializer_list<int> others);

  // The next one, or 0 after `limit`. One that ends the server goes first, so that a stream of
  // others cannot hold it up.
  int Wait(std::chrono::milliseconds limit) const;

  static bool IsEnd(int number) { return number == SIGTERM || number == SIGINT; }

 private:
  sigset_t all_{};
};

// Reads again what a reload is of ("the certificate"), and tells log and service manager.
void Reload(std::string_view what, const std::function<Status()>& read);

}  // namespace fieldcost::serve

#include "common/serve/signals.h"

#include <fmt/format.h>

#include <ctime>

#include "common/base/log.h"
#include "common/systemd/notify.h"

namespace fieldcost::serve {
namespace {

// Waits for one of `signals`; returns 0 after `limit`.
int WaitForOneOf(const sigset_t& signals, std::chrono::milliseconds limit) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec time{.tv_sec = seconds.count(),
                      .tv_nsec = std::chrono::nanoseconds(limit - seconds).count()};
  const int number = ::sigtimedwait(&signals, nullptr, &time);
  return number < 0 ? 0 : number;
}

sigset_t Ends() {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  return ends;
}

}  // namespace

Signals::Signals(std::initializer_list<int> others) : all_(Ends()) {
  for (const int number : others) sigaddset(&all_, number);
  ::pthread_sigmask(SIG_BLOCK, &all_, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

int Signals::Wait(std::chrono::milliseconds limit) const {
  const int number = WaitForOneOf(all_, limit);
  if (number == 0 || IsEnd(number)) return number;
  // The kernel delivers the lowest number first, which may not be a signal that ends the server.
  const int end = WaitForOneOf(Ends(), std::chrono::milliseconds(0));
  return end != 0 ? end : number;
}

void Reload(std::string_view what, const std::function<Status()>& read) {
  systemd::NotifyReloading();
  if (const Status status = read(); !status) {
    LogEvent(LogLevel::kError, "reload failed; the previous settings stay in force",
             {{"error", status.error().message}});
  } else {
    LogEvent(LogLevel::kInfo, fmt::format("reloaded {}", what));
  }
  systemd::NotifyReady("serving");
}

}  // namespace fieldcost::serve

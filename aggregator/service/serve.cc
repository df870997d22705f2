#include "aggregator/service/serve.h"

#include <signal.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <memory>
#include <optional>

#include "aggregator/service/service.h"
#include "common/base/log.h"
#include "common/systemd/notify.h"

namespace fieldcost::aggregator {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kHealthCheckInterval{1'000};
// Passes between looks until the service is open: its first publication is waited for.
constexpr milliseconds kOpeningInterval{20};

sigset_t ServedSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGHUP}) sigaddset(&signals, number);
  return signals;
}

// One of `signals`, or 0 after `limit`.
int WaitForOneOf(const sigset_t& signals, milliseconds limit) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec time{.tv_sec = seconds.count(),
                      .tv_nsec = std::chrono::nanoseconds(limit - seconds).count()};
  const int number = ::sigtimedwait(&signals, nullptr, &time);
  return number < 0 ? 0 : number;
}

bool IsEnd(int number) { return number == SIGTERM || number == SIGINT; }

// The next signal, or 0 after `limit`. The end goes first: the kernel would hand out the lowest
// number, so that a stream of SIGHUP could hold it up.
int WaitForSignal(milliseconds limit) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  const int number = WaitForOneOf(ServedSignals(), limit);
  if (number == 0 || IsEnd(number)) return number;
  const int end = WaitForOneOf(ends, milliseconds(0));
  return end != 0 ? end : number;
}

void Reload(Service& service) {
  systemd::NotifyReloading();
  if (const Status status = service.Reload(); !status) {
    LogEvent(LogLevel::kError, "reload failed, what was in force stays",
             {{"error", status.error().message}});
  } else {
    LogEvent(LogLevel::kInfo, "reloaded certificate and tokens");
  }
  systemd::NotifyReady("serving");
}

Status RunUntilSignal(Service& service) {
  const bool watched = systemd::WatchdogTime().has_value();
  bool open = false;
  auto next_check = SteadyClock::now();
  for (;;) {
    const int number = WaitForSignal(open ? kHealthCheckInterval : kOpeningInterval);
    if (IsEnd(number)) return {};
    if (number == SIGUSR1) service.AskToPublish();
    if (number == SIGHUP && open) Reload(service);  // before, all has just been read
    if (!open && service.IsReadyToOpen()) {
      FIELDCOST_TRY(service.Open());
      systemd::NotifyReady("serving");
      open = true;
    }
    if (SteadyClock::now() < next_check) continue;
    next_check = SteadyClock::now() + kHealthCheckInterval / 2;
    FIELDCOST_TRY(service.CheckHealth());
    if (watched) systemd::NotifyAlive();
  }
}

}  // namespace

Status Serve(const Config& config) {
  const sigset_t signals = ServedSignals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  const LogFormat standard = systemd::LogsToJournal() ? LogFormat::kJournal : LogFormat::kText;
  SetLogFormat(config.log_format.value_or(standard));
  SetLogLevel(config.log_level);
  auto service = std::make_unique<Service>(config);
  Status status = service->Start();
  if (status) status = RunUntilSignal(*service);
  systemd::NotifyStopping("finishing what is in progress");
  if (status && config.drain_delay.count() != 0) {
    service->BeginDrain();
    LogEvent(LogLevel::kInfo, "draining", {{"seconds", config.drain_delay.count()}});
    const auto end = SteadyClock::now() + config.drain_delay;
    while (SteadyClock::now() < end && !IsEnd(WaitForSignal(kOpeningInterval))) {
    }
  }
  // A compaction, say, may still be running. It can be cut off at any moment, but not what it uses:
  // that is left as it is, for the process ends now.
  if (!service->Stop()) (void)service.release();
  return status;
}

}  // namespace fieldcost::aggregator

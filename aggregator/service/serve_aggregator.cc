#include "aggregator/service/serve_aggregator.h"

#include <signal.h>

#include <chrono>
#include <memory>

#include "aggregator/service/service.h"
#include "common/base/log.h"
#include "common/serve/serve_config.h"
#include "common/serve/signals.h"
#include "common/systemd/notify.h"

namespace fieldcost::aggregator {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kHealthCheckInterval{1'000};
// Polling interval until the service is open, after its first publication.
constexpr milliseconds kOpeningInterval{20};

Status RunUntilSignal(Service& service, const serve::Signals& signals) {
  const bool watched = systemd::WatchdogTime().has_value();
  bool open = false;
  auto next_check = SteadyClock::now();
  for (;;) {
    const int number = signals.Wait(open ? kHealthCheckInterval : kOpeningInterval);
    if (serve::Signals::IsEnd(number)) return {};
    if (number == SIGUSR1) service.AskToPublish();
    if (number == SIGHUP && open) {  // before that, everything has just been read
      serve::Reload("certificate and tokens", [&service] { return service.Reload(); });
    }
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

// Continues to answer for as long as load balancers need to notice, or until a second signal.
void Drain(Service& service, const serve::Signals& signals, std::chrono::seconds delay) {
  if (delay.count() == 0) return;
  service.BeginDrain();
  LogEvent(LogLevel::kInfo, "draining", {{"seconds", delay.count()}});
  const auto end = SteadyClock::now() + delay;
  while (SteadyClock::now() < end && !serve::Signals::IsEnd(signals.Wait(kOpeningInterval))) {
  }
}

}  // namespace

Status Serve(const Config& config) {
  const serve::Signals signals({SIGUSR1, SIGHUP});
  serve::UseLog(config.log_format, config.log_level);
  auto service = std::make_unique<Service>(config);
  Status status = service->Start();
  if (status) status = RunUntilSignal(*service, signals);
  systemd::NotifyStopping("finishing work in progress");
  if (status) Drain(*service, signals, config.drain_delay);
  // A compaction, for example, may still be running. It can be cut off at any moment, but the
  // objects that it uses must live on: they are leaked, since the process ends now.
  if (!service->Stop()) (void)service.release();
  return status;
}

}  // namespace fieldcost::aggregator

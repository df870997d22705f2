#include "aggregator/probe_server/serve_probes.h"

#include <signal.h>

#include <chrono>

#include "aggregator/probe_server/probe_service.h"
#include "common/serve/serve_config.h"
#include "common/serve/signals.h"
#include "common/systemd/notify.h"

namespace fieldcost::probe_server {
namespace {

constexpr std::chrono::seconds kLookInterval{1};

Status RunUntilSignal(Service& service, const serve::Signals& signals) {
  const bool watched = systemd::WatchdogTime().has_value();
  systemd::NotifyReady("serving");
  for (;;) {
    const int number = signals.Wait(kLookInterval);
    if (serve::Signals::IsEnd(number)) return {};
    if (number == SIGHUP) {
      serve::Reload("the certificate", [&service] { return service.ReloadCertificate(); });
    }
    FIELDCOST_TRY(service.CheckHealth());
    service.Expire();
    if (watched) systemd::NotifyAlive();
  }
}

}  // namespace

Status Serve(const Config& config) {
  const serve::Signals signals({SIGHUP});
  serve::UseLog(config.log_format, config.log_level);
  Service service(config, SystemClock());
  FIELDCOST_TRY(service.Start());
  const Status status = RunUntilSignal(service, signals);
  systemd::NotifyStopping("finishing work in progress");
  service.Stop();
  return status;
}

}  // namespace fieldcost::probe_server

#include "aggregator/probes/serve.h"

#include <signal.h>

#include <chrono>
#include <ctime>

#include "aggregator/probes/service.h"
#include "common/base/log.h"
#include "common/systemd/notify.h"

namespace fieldcost::probe_server {
namespace {

constexpr std::chrono::seconds kLookInterval{1};

void Reload(Service& service) {
  systemd::NotifyReloading();
  if (const Status status = service.ReloadCertificate(); !status) {
    LogEvent(LogLevel::kError, "reload failed, what was in force stays",
             {{"error", status.error().message}});
  } else {
    LogEvent(LogLevel::kInfo, "reloaded the certificate");
  }
  systemd::NotifyReady("serving");
}

Status RunUntilSignal(Service& service, const sigset_t& signals) {
  const bool watched = systemd::WatchdogTime().has_value();
  const timespec interval{.tv_sec = kLookInterval.count(), .tv_nsec = 0};
  systemd::NotifyReady("serving");
  for (;;) {
    const int number = ::sigtimedwait(&signals, nullptr, &interval);
    if (number == SIGTERM || number == SIGINT) return {};
    if (number == SIGHUP) Reload(service);
    FIELDCOST_TRY(service.CheckHealth());
    service.Expire();
    if (watched) systemd::NotifyAlive();
  }
}

}  // namespace

Status Serve(const Config& config) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  const LogFormat standard = systemd::LogsToJournal() ? LogFormat::kJournal : LogFormat::kText;
  SetLogFormat(config.log_format.value_or(standard));
  SetLogLevel(config.log_level);
  Service service(config, SystemClock());
  FIELDCOST_TRY(service.Start());
  const Status status = RunUntilSignal(service, signals);
  systemd::NotifyStopping("finishing what is in progress");
  service.Stop();
  return status;
}

}  // namespace fieldcost::probe_server

#pragma once

#include <chrono>
#include <optional>
#include <string_view>

// Notifications from a service to the service manager that started it (sd_notify(3)); without one,
// these functions do nothing. Thread-safe.
namespace fieldcost::systemd {

void NotifyReady(std::string_view status);
// Until NotifyReady(), the manager delays jobs that wait for the reload.
void NotifyReloading();
void NotifyStopping(std::string_view status);

// Keeps the watchdog alive: must be called well within each WatchdogTime(), if there is one.
void NotifyAlive();
// nullopt: the manager does not watch this process.
std::optional<std::chrono::microseconds> WatchdogTime();

// Whether standard error is connected to the journal (systemd.exec(5), JOURNAL_STREAM), which
// records time and level itself.
bool LogsToJournal();

}  // namespace fieldcost::systemd

#pragma once

#include <chrono>
#include <optional>
#include <string_view>

// How a service talks to the service manager that started it (sd_notify(3)); without one nothing
// happens. Thread-safe.
namespace fieldcost::systemd {

void NotifyReady(std::string_view status);
// Between the two the manager waits with what follows a reload.
void NotifyReloading();
void NotifyStopping(std::string_view status);

// Still alive: to be said again well within the time that WatchdogTime() tells, if any.
void NotifyAlive();
// nullopt: the manager does not watch this process.
std::optional<std::chrono::microseconds> WatchdogTime();

// Whether standard error goes to the journal (systemd.exec(5), JOURNAL_STREAM), which keeps time
// and level by itself.
bool LogsToJournal();

}  // namespace fieldcost::systemd

#pragma once

#include <string_view>

namespace fieldcost::daemon {

// How the agent talks to the service manager that started it (sd_notify(3)); without one nothing
// happens.
void NotifyReady(std::string_view status);
// Between the two the manager waits with what follows a reload.
void NotifyReloading();
void NotifyStopping(std::string_view status);

// Whether standard error goes to the journal (systemd.exec(5), JOURNAL_STREAM), which keeps time
// and level by itself.
bool LogsToJournal();

}  // namespace fieldcost::daemon

#pragma once

#include "common/stats/api_key.h"

namespace fieldcost::analysis {

// Whether a function's work is to wait: for events, time, another thread or process. How long that
// takes depends on what it waits for, so its time is not a cost and is set apart in tables. Known
// by name, for the C library and GLib; functions that wait now and then (read, pthread_mutex_lock)
// are not among them. Pure; thread-safe.
bool IsWaiting(const stats::ApiKey& api);

}  // namespace fieldcost::analysis

#pragma once

#include "common/stats/api_key.h"

namespace fieldcost::analysis {

// Whether a function's work is to wait: for events, time, another thread or process. What it takes
// is up to what it waits for, so its time is no cost, and is set apart in tables of costs. By name,
// of the C library and GLib; functions that wait now and then (read, pthread_mutex_lock) are not
// among them. Pure; thread-safe.
bool IsWaiting(const stats::ApiKey& api);

}  // namespace fieldcost::analysis

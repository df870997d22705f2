#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/stats/api_key.h"

namespace fieldcost::analysis {

// Whether a function's work is to wait: for events, time, another thread or process. How long that
// takes depends on what it waits for, so its time is not a cost and is set apart in tables. Known
// by name, for the C and C++ libraries, Boost and GLib; functions that wait now and then (read,
// pthread_mutex_lock) are not among them. Pure; thread-safe.
bool IsWaiting(const stats::ApiKey& api);

// Takes such functions out of `items`, of which `api_of` gives the API; their symbols.
template <typename Item, typename ApiOf>
std::set<std::string> SetWaitingApart(std::vector<Item>& items, ApiOf api_of) {
  std::set<std::string> waiting;
  std::erase_if(items, [&](const Item& item) {
    const stats::ApiKey& api = std::invoke(api_of, item);
    if (!IsWaiting(api)) return false;
    waiting.insert(api.symbol);
    return true;
  });
  return waiting;
}

}  // namespace fieldcost::analysis

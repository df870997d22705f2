#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "common/stats/api_key.h"

namespace fieldcost::analysis {

// Whether a function's purpose is to wait for events, time, another thread or process. Its duration
// depends on what it waits for, so its time is not a cost, and tables list it separately.
// Recognised by name, for the C and C++ libraries, Boost and GLib; functions that wait only
// sometimes (read, pthread_mutex_lock) are not included. Pure; thread-safe.
bool IsWaiting(const stats::ApiKey& api);

// Removes such functions from `items`, whose APIs `api_of` returns; returns their symbols.
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

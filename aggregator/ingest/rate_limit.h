#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace fieldcost::ingest {

// Counts each agent's batches, or their rows, in the current hour of the clock. Memory is bounded:
// in an hour, agents beyond kMaxCountedAgents are not counted; a limit per key would not stop a
// sender with that many keys anyway. In memory only. Thread-safe.
class AgentRate {
 public:
  explicit AgentRate(unsigned per_hour) : per_hour_(per_hour) {}  // 0 = no limit

  // Counts `number` more. This may exceed the limit once; otherwise a number larger than the limit
  // could never pass. If the limit was reached before, returns how long to wait.
  std::optional<std::chrono::seconds> Take(std::string_view agent_id, WallTime now,
                                           unsigned number = 1);

 private:
  const unsigned per_hour_;
  Mutex mutex_;
  std::int64_t hour_ FIELDCOST_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, unsigned> counts_ FIELDCOST_GUARDED_BY(mutex_);
};

}  // namespace fieldcost::ingest

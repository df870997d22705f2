#include "aggregator/ingest/rate_limit.h"

#include "aggregator/ingest/ingest_limits.h"

namespace fieldcost::ingest {

std::optional<std::chrono::seconds> AgentRate::Take(std::string_view agent_id, WallTime now,
                                                    unsigned number) {
  using std::chrono::hours;
  if (per_hour_ == 0) return std::nullopt;
  const auto hour = std::chrono::floor<hours>(now);
  const MutexLock lock(mutex_);
  if (hour.time_since_epoch().count() != hour_) {
    hour_ = hour.time_since_epoch().count();
    counts_.clear();
  }
  std::string name(agent_id);
  auto place = counts_.find(name);
  if (place == counts_.end()) {
    if (counts_.size() >= kMaxCountedAgents) return std::nullopt;
    place = counts_.emplace(std::move(name), 0).first;
  }
  if (place->second >= per_hour_) {
    return std::chrono::ceil<std::chrono::seconds>(hour + hours(1) - now);
  }
  place->second += number;
  return std::nullopt;
}

}  // namespace fieldcost::ingest

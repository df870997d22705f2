#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "agent/idle/proc_stat.h"

namespace fieldcost::idle_agent {

// Bounds what is taken for idle time of a CPU by what /proc/stat counts there: since the first look
// it is never more than that has grown, and one unit. Pure; not thread-safe.
class StatBound {
 public:
  // Of the idle ns, so many may be believed. `read` gives what /proc/stat counts now, in ns, or
  // nothing; it is asked once a unit of time at most, and only if what it gave before is used up.
  template <typename Read>
  std::uint64_t Allow(std::uint64_t idle_ns, std::uint64_t now_ns, const Read& read) {
    if (!first_ns_ || (idle_ns > allowed_ns_ - told_ns_ && now_ns >= next_look_ns_)) {
      next_look_ns_ = now_ns + kStatUnitNs;
      const std::optional<std::uint64_t> stat_ns = read();
      if (stat_ns && !first_ns_) first_ns_ = stat_ns;
      // The kernel's count is known to go back at times.
      if (stat_ns)
        allowed_ns_ =
            std::max(allowed_ns_, *stat_ns - std::min(*stat_ns, *first_ns_) + kStatUnitNs);
    }
    const std::uint64_t granted_ns = std::min(idle_ns, allowed_ns_ - told_ns_);
    told_ns_ += granted_ns;
    return granted_ns;
  }

 private:
  std::optional<std::uint64_t> first_ns_;
  std::uint64_t allowed_ns_ = 0;  // since then
  std::uint64_t told_ns_ = 0;     // of it; at most that
  std::uint64_t next_look_ns_ = 0;
};

}  // namespace fieldcost::idle_agent

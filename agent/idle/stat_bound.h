#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "agent/idle/proc_stat.h"

namespace fieldcost::idle_agent {

// Limits the idle time reported for a CPU by /proc/stat: since the first check, the sum never
// exceeds the growth of the CPU's idle time there plus one unit. Pure; not thread-safe.
class StatBound {
 public:
  // Returns how many of the idle ns are within the bound. `read` returns the idle time in
  // /proc/stat in ns, or nullopt. It is called at most once per unit, and only if the allowance is
  // used up.
  template <typename Read>
  std::uint64_t Allow(std::uint64_t idle_ns, std::uint64_t now_ns, const Read& read) {
    if (!first_ns_ || (idle_ns > allowed_ns_ - told_ns_ && now_ns >= next_look_ns_)) {
      next_look_ns_ = now_ns + kStatUnitNs;
      const std::optional<std::uint64_t> stat_ns = read();
      if (stat_ns && !first_ns_) first_ns_ = stat_ns;
      // The kernel's count occasionally decreases.
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
  std::uint64_t allowed_ns_ = 0;  // since first_ns_
  std::uint64_t told_ns_ = 0;     // granted so far; at most allowed_ns_
  std::uint64_t next_look_ns_ = 0;
};

}  // namespace fieldcost::idle_agent

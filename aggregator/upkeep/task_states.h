#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "common/base/clock.h"

namespace fieldcost::aggregator {

// The states of background tasks, as /metrics reports them (aggregator/admin).

// The outcomes of a repeated task.
struct TaskState {
  std::uint64_t successes = 0;
  std::uint64_t failures = 0;
  std::optional<WallTime> last_success;
  std::chrono::microseconds last_duration{0};
};

// Progress of reading the store's files in the background.
struct ScrubState {
  TaskState rounds;         // rounds over all files; a failure means damage
  std::uint64_t bytes = 0;  // read since the start
};

}  // namespace fieldcost::aggregator

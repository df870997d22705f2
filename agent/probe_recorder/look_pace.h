#pragma once

#include <chrono>
#include <cstdint>

namespace fieldcost::probe {

// Computes the wait before rings are read again: until about an eighth of the fullest ring has been
// written, but 5 ms to 1 s, and at most twice the previous wait. A program that passes no points
// costs one look per second. Pure; not thread-safe.
class LookPace {
 public:
  static constexpr std::chrono::milliseconds kLeast{5};
  static constexpr std::chrono::milliseconds kMost{1000};

  // Returns the wait after a look that found `bytes` new bytes in the fullest ring.
  std::chrono::milliseconds After(std::uint64_t bytes);
  std::chrono::milliseconds wait() const { return wait_; }

 private:
  std::chrono::milliseconds wait_ = kLeast;
};

}  // namespace fieldcost::probe

#pragma once

#include <chrono>
#include <cstdint>

namespace fieldcost::probe {

// How long to wait until rings are looked at again: so that about an eighth of the fullest is
// written meanwhile, within 5 ms and a second, and at most twice as long as before. A program that
// passes no point costs a look a second. Pure; not thread-safe.
class LookPace {
 public:
  static constexpr std::chrono::milliseconds kLeast{5};
  static constexpr std::chrono::milliseconds kMost{1000};

  // The wait after a look, at which the fullest ring had so many bytes more than at the one before.
  std::chrono::milliseconds After(std::uint64_t bytes);
  std::chrono::milliseconds wait() const { return wait_; }

 private:
  std::chrono::milliseconds wait_ = kLeast;
};

}  // namespace fieldcost::probe

#pragma once

#include <chrono>
#include <cstdint>

#include "common/base/result.h"

namespace fieldcost::perf {

// Shared by recorders that write while a program runs.

using Time = std::chrono::steady_clock::time_point;

inline constexpr auto kLook = std::chrono::milliseconds(100);  // the longest interval between reads

// Returns when a recording that begins now ends by itself; 0: never.
inline Time EndAfter(std::uint64_t for_ns) {
  return for_ns == 0 ? Time::max()
                     : std::chrono::steady_clock::now() + std::chrono::nanoseconds(for_ns);
}

// Determines when recorded data is flushed to the file, so that it can be followed live.
class FlushTimer {
 public:
  // True once a second.
  bool IsDue(Time now) {
    if (now - last_ < kEvery) return false;
    last_ = now;
    return true;
  }

 private:
  static constexpr auto kEvery = std::chrono::seconds(1);
  Time last_ = std::chrono::steady_clock::now();
};

// Returns whether the system forbids or lacks something, so that an alternative may work.
inline bool IsRefused(const Error& error) {
  return error.code == ErrorCode::kPermissionDenied || error.code == ErrorCode::kUnsupported;
}

}  // namespace fieldcost::perf

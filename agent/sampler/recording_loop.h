#pragma once

#include <chrono>
#include <cstdint>

#include "common/base/result.h"

namespace fieldcost::sampler {

// What recorders have in common that write while something runs.

using Time = std::chrono::steady_clock::time_point;

inline constexpr auto kLook = std::chrono::milliseconds(100);  // the longest time between two looks

// When a recording that began now ends by itself; 0: never.
inline Time EndAfter(std::uint64_t for_ns) {
  return for_ns == 0 ? Time::max()
                     : std::chrono::steady_clock::now() + std::chrono::nanoseconds(for_ns);
}

// Says when what was recorded is to be written to the file, so that it can be followed.
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

// Whether the system does not permit it, or does not have it: something else may do.
inline bool IsRefused(const Error& error) {
  return error.code == ErrorCode::kPermissionDenied || error.code == ErrorCode::kUnsupported;
}

}  // namespace fieldcost::sampler

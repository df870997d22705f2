#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::wire {

// Sampled stacks in pprof's format (profile.proto), which profilers of many languages write. Read
// only; README.md beside this file says what is refused.

// What the values are of: "cpu" and "nanoseconds", say. Untrusted texts, possibly empty.
struct PprofUnit {
  std::string untrusted_type;
  std::string untrusted_unit;
};

// One stack, its outermost function first: "module!function" where the module's file is known
// (without its directories), else "function"; an address where there is no name. Untrusted texts,
// valid during the call. An error ends the reading.
using StackVisitor =
    std::function<Status(std::span<const std::string_view> untrusted_frames, std::uint64_t value)>;

// Whether the bytes begin like a compressed profile.
bool IsGzip(std::string_view untrusted_bytes);

// Calls `visit` with every sample's stack and its value of the default type (the last one, if the
// profile names none). Gzip or not. kTooLarge beyond the limits of limits.h, kCorrupt for anything
// but one whole profile whose references all lead somewhere and whose values are not negative.
Result<PprofUnit> ReadPprof(std::string_view untrusted_bytes, const StackVisitor& visit);

}  // namespace fieldcost::wire

#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::tree {

// The numbers are stored in files and never reused.
enum class Unit : std::uint8_t { kNanoseconds = 1, kCount = 2, kBytes = 3 };

// "ns", "count", "bytes".
std::string_view Name(Unit unit);

// A summed quantity: "wall", "cpu", "calls", "allocated". Identified by its name; two metrics of
// the same name can be added and compared if they have the same unit, whether exact or sampled
// (samples of time are converted to ns).
struct Metric {
  std::string name;  // lower case letters, digits, '-', '_', '.'; at most kMaxMetricNameBytes
  Unit unit = Unit::kNanoseconds;
  // 0: exact. Otherwise, the approximate amount that each sample represents, in the unit.
  std::uint64_t per_sample = 0;
  bool sampled() const { return per_sample != 0; }
  auto operator<=>(const Metric&) const = default;
};

// kInvalidArgument unless the name is as above and the unit is valid.
Status Validate(const Metric& untrusted_metric);

}  // namespace fieldcost::tree

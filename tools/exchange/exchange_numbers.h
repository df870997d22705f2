#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/tree/tree_metric.h"

namespace fieldcost::exchange {

// Exact decimal numbers from text: "12", "-0.25", "1.5e3", "+7". Pure functions, thread-safe.

// A number times a power of ten.
struct Scaled {
  bool is_negative = false;  // false for 0
  std::uint64_t magnitude = 0;
  bool is_cut = false;  // nonzero digits after the last decimal were dropped
};

// Whether the text is a number, of any magnitude.
bool IsNumber(std::string_view untrusted_text);

// A number in units of 10^-decimals: "1.5" with 3 decimals is 1500. nullopt if it is not a number
// or its magnitude exceeds 2^64 - 1.
std::optional<Scaled> ScaledValue(std::string_view untrusted_digits, unsigned decimals);

// The same for non-negative numbers; excess digits are dropped.
std::optional<std::uint64_t> ScaledNumber(std::string_view untrusted_digits, unsigned decimals);

// Shifts times so that none is negative: adds the magnitude of the lowest one if that is negative.
class ZeroShift {
 public:
  void Look(const Scaled& time) {
    if (time.is_negative) shift_ = std::max(shift_, time.magnitude);
  }
  // kTooLarge if the result exceeds 2^64 - 1. REQUIRES: Look(time) was called.
  Result<std::uint64_t> At(const Scaled& time) const;

 private:
  std::uint64_t shift_ = 0;
};

// Chooses the unit in which fractional counts become integers: 1, or the largest of 10^-3, 10^-6
// and 10^-9 that represents all of their digits and in which each count has at most 18 digits.
class CountScale {
 public:
  // Ignores text that is not a number.
  void Look(std::string_view untrusted_digits);

  // 0, 3, 6 or 9.
  unsigned decimals() const;
  // The metric of values with these decimals: "milli-samples" for "samples".
  static tree::Metric MetricOf(const tree::Metric& metric, unsigned decimals);

 private:
  std::int64_t most_decimals_ = 0;
  std::int64_t most_whole_digits_ = 0;
};

}  // namespace fieldcost::exchange

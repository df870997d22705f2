#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fieldcost::inference {

// The verdict of every comparison of costs: whether one side costs more than the other. Pure
// functions, thread-safe.

enum class Verdict : std::uint8_t {
  kTooLittleData,  // fewer values or machines than the thresholds require
  kNone,           // no change shown: not significant, or smaller than the least effects
  kMore,           // the second side, or one's own profile, costs more
  kLess,
};

inline bool IsChange(Verdict verdict) {
  return verdict == Verdict::kMore || verdict == Verdict::kLess;
}

// The name in JSON: "too_little_data", "none", "more", "less".
std::string_view Name(Verdict verdict);

// The words for a verdict in texts, by what has been compared.
enum class Wording : std::uint8_t {
  kTime,    // "too little data", "no change shown", "slower", "faster"
  kAmount,  // the same, with "more" and "less"
  kField,   // "too little data", "normal", "worse than the field"; less is "normal", too
};
std::string_view Words(Verdict verdict, Wording wording);

// The requirements of a comparison. A member that a kind of comparison does not use is 0.
struct Thresholds {
  double false_share = 0;            // maximum q: the share of false ones among the changes found
  double least_ratio = 1;            // more: at least this; less: at most 1 / this
  double least_delta = 0;            // of Cliff's delta, in the direction of the ratio
  std::uint64_t least_values = 0;    // calls, runs or events on each side
  std::uint64_t least_machines = 0;  // on each side that consists of many

  bool IsEnough(std::uint64_t values, std::uint64_t machines) const {
    return values >= least_values && machines >= least_machines;
  }
};

// Catalogue rows: a profile with the field, two versions of a library. A delta below 0.147 is
// "negligible".
inline constexpr Thresholds kFieldThresholds = {.false_share = 0.05,
                                                .least_ratio = 1.25,
                                                .least_delta = 0.147,
                                                .least_values = 100,
                                                .least_machines = 30};
// Two lab tables of one scenario. With fewer runs, the variation between runs is unknown.
inline constexpr Thresholds kLabThresholds = {
    .false_share = 0.05, .least_ratio = 1.05, .least_values = 3};
// Probe points: values are runs or events. The least ratio is an option of the commands.
inline constexpr Thresholds kEventThresholds = {.false_share = 0.01, .least_values = 5};
// Call trees, which also have least shares of the whole (tree::CompareOptions).
inline constexpr Thresholds kTreeThresholds = {.false_share = 0.01, .least_values = 2};

// One function called from several places; values are runs.
inline constexpr Thresholds kContextThresholds = {
    .false_share = 0.01, .least_ratio = 1.25, .least_values = 3};

// The result of a comparison with enough data.
struct Effect {
  double q = 1;      // p adjusted for the number of tests; 0 if nothing can be tested
  double ratio = 1;  // the second side to the first
  std::optional<double> delta = std::nullopt;  // Cliff's, if known
};

// kMore or kLess if q is small enough, and the ratio and the delta are large enough in the same
// direction; otherwise kNone.
Verdict VerdictOf(const Effect& effect, const Thresholds& thresholds);

}  // namespace fieldcost::inference

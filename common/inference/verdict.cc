#include "common/inference/verdict.h"

#include <array>

namespace fieldcost::inference {
namespace {

struct VerdictWords {
  std::string_view name;
  std::array<std::string_view, 3> words;  // by Wording
};

// Indexed by Verdict. Names never change, since scripts compare them.
constexpr std::array<VerdictWords, 4> kVerdicts = {{
    {"too_little_data", {"too little data", "too little data", "too little data"}},
    {"none", {"no change shown", "no change shown", "normal"}},
    {"more", {"slower", "more", "worse than the field"}},
    {"less", {"faster", "less", "normal"}},
}};

// The effect in one direction: with `sign` -1, a decrease is seen as an increase.
bool IsIncrease(double ratio, const std::optional<double>& delta, double sign,
                const Thresholds& thresholds) {
  const bool is_large = sign > 0 ? ratio > 1 && ratio >= thresholds.least_ratio
                                 : ratio < 1 && ratio * thresholds.least_ratio <= 1;
  if (!delta) return is_large;
  return is_large && sign * *delta > 0 && sign * *delta >= thresholds.least_delta;
}

}  // namespace

std::string_view Name(Verdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)].name; }

std::string_view Words(Verdict verdict, Wording wording) {
  return kVerdicts[static_cast<std::size_t>(verdict)].words[static_cast<std::size_t>(wording)];
}

Verdict VerdictOf(const Effect& effect, const Thresholds& thresholds) {
  if (effect.q > thresholds.false_share) return Verdict::kNone;
  if (IsIncrease(effect.ratio, effect.delta, 1, thresholds)) return Verdict::kMore;
  if (IsIncrease(effect.ratio, effect.delta, -1, thresholds)) return Verdict::kLess;
  return Verdict::kNone;
}

}  // namespace fieldcost::inference

#include "common/inference/anomaly.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/inference/benjamini_hochberg.h"
#include "common/inference/effect_size.h"
#include "common/inference/machine_moments.h"
#include "common/stats/figures.h"

namespace fieldcost::inference {
namespace {

// The weights of `rest` less those of `own`; none if that is impossible.
stats::AgentWeights Without(const stats::AgentWeights& own, const stats::ApiSums& rest) {
  stats::AgentWeights left = rest.weights;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    if (own.slots[slot] > left.slots[slot]) return {};
    left.slots[slot] -= own.slots[slot];
  }
  return stats::Validate(left, rest.histogram, rest.scalars.contributions) ? left
                                                                           : stats::AgentWeights{};
}

// The octaves by which my machine's mean is above that of the others', of all weeks.
double OctavesAbove(const stats::CostHistogram& mine, const stats::ContributionScalars& others) {
  if (others.contributions == 0) return 0;
  return static_cast<double>(stats::ScalarsOf(mine).sum_mean) * kMeanStep - MomentsOf(others).mean;
}

}  // namespace

bool TakeOut(const stats::ApiSums& own, stats::ApiSums& field) {
  stats::ApiSums rest = field;
  if (!rest.histogram.Subtract(own.histogram) || !rest.scalars.Subtract(own.scalars)) return false;
  if (own.fullest_quarter.week != 0) {
    if (own.fullest_quarter.week != rest.fullest_quarter.week ||
        !rest.fullest_quarter.scalars.Subtract(own.fullest_quarter.scalars)) {
      return false;
    }
    if (rest.fullest_quarter.scalars.contributions == 0) rest.fullest_quarter = {};
  }
  rest.weights = Without(own.weights, rest);
  field = rest;
  return true;
}

Comparison Compare(const stats::CostHistogram& mine, const stats::ApiSums& field,
                   const stats::ApiSums* own, std::uint64_t salt) {
  stats::ApiSums others = field;
  Comparison result;
  if (own != nullptr) result.own_removed = TakeOut(*own, others);
  result.calls = mine.timed();
  result.field_calls = others.histogram.timed();
  result.contributions = others.scalars.contributions;
  result.machines = others.fullest_quarter.scalars.contributions;
  result.machine_test = TestMachine(mine, stats::ScalarsForTests(others));
  result.few_machines = stats::KnowsMachines(others) && stats::KnowsBounds(others) &&
                        !stats::AllCallsAgree(others) && result.calls > 0;
  if (result.few_machines) {
    result.ratio = std::exp2(OctavesAbove(mine, others.scalars));
  } else {
    result.call_test = TestCalls(CountsOf(mine, others.histogram), kPermutations, salt);
  }
  result.cliffs_delta = CliffsDelta(
      {.histogram = &others.histogram, .weights = result.few_machines ? &others.weights : nullptr},
      {.histogram = &mine});
  if (!result.few_machines && result.calls > 0 && result.field_calls > 0) {
    const stats::Int128 distance =
        stats::ScalarsOf(mine).sum_mean - stats::ScalarsOf(others.histogram).sum_mean;
    result.ratio = std::exp2(static_cast<double>(distance) * 0x1p-16);
  }
  return result;
}

void Decide(std::span<Comparison> report) {
  std::vector<Comparison*> eligible;
  std::vector<double> p_values;
  for (Comparison& comparison : report) {
    comparison.q = 1;
    comparison.verdict = Verdict::kTooLittleData;
    if (!comparison.eligible()) continue;
    eligible.push_back(&comparison);
    p_values.push_back(comparison.machine_test.p);
  }
  const std::vector<double> q_values = AdjustForFalseDiscoveries(p_values);
  for (std::size_t i = 0; i < eligible.size(); ++i) {
    Comparison& comparison = *eligible[i];
    comparison.q = q_values[i];
    const Verdict verdict =
        VerdictOf({comparison.q, comparison.ratio, comparison.cliffs_delta}, kFieldThresholds);
    comparison.verdict = verdict == Verdict::kMore ? verdict : Verdict::kNone;
  }
}

}  // namespace fieldcost::inference

#include "common/stats/anomaly.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/stats/benjamini_hochberg.h"
#include "common/stats/figures.h"
#include "common/stats/uint128.h"

namespace fieldcost::stats {
namespace {

double CliffsDelta(const CallCounts& calls) {
  Uint128 field_below = 0;
  Uint128 field_above = 0;
  Uint128 mine_all = 0;
  for (const std::uint64_t count : calls.field) field_above += count;
  const Uint128 field_all = field_above;
  Int128 dominance = 0;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    field_above -= calls.field[slot];
    dominance += Int128{calls.mine[slot]} *
                 (static_cast<Int128>(field_below) - static_cast<Int128>(field_above));
    field_below += calls.field[slot];
    mine_all += calls.mine[slot];
  }
  if (mine_all == 0 || field_all == 0) return 0;
  return static_cast<double>(dominance) / static_cast<double>(mine_all) /
         static_cast<double>(field_all);
}

// What is left of the weights of `rest` and `own`; none if that is impossible.
AgentWeights Without(const AgentWeights& own, const ApiSums& rest) {
  AgentWeights left = rest.weights;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    if (own.slots[slot] > left.slots[slot]) return {};
    left.slots[slot] -= own.slots[slot];
  }
  return Validate(left, rest.histogram, rest.scalars.contributions) ? left : AgentWeights{};
}

}  // namespace

std::string_view Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kTooLittleData:
      return "too little data";
    case Verdict::kNormal:
      return "normal";
    case Verdict::kDifferent:
      return "different, within normal machine-to-machine variation";
    case Verdict::kWorse:
      return "worse than the field";
  }
  return "";
}

bool TakeOut(const ApiSums& own, ApiSums& field) {
  ApiSums rest = field;
  if (!rest.histogram.Subtract(own.histogram) || !rest.scalars.Subtract(own.scalars)) return false;
  rest.weights = Without(own.weights, rest);
  field = rest;
  return true;
}

double Comparison::p() const {
  return few_machines ? machine_test.p : std::max(call_test.by_bucket.p, machine_test.p);
}

Comparison Compare(const CostHistogram& mine, const ApiSums& field, const ApiSums* own,
                   std::uint64_t salt) {
  ApiSums others = field;
  Comparison result;
  if (own != nullptr) result.own_removed = TakeOut(*own, others);
  CallCounts calls = CountsOf(mine, others.histogram);
  result.calls = mine.count();
  result.field_calls = others.histogram.count();
  result.contributions = others.scalars.contributions;
  result.machine_test = TestMachine(mine, ScalarsForTests(others));
  result.few_machines =
      KnowsMachines(others) && KnowsBounds(others) && !AllCallsAgree(others) && result.calls > 0;
  if (result.few_machines) {
    calls.field = SharesOf(others.weights);
    result.ratio = std::exp2(result.machine_test.octaves_above);
  } else {
    result.call_test = TestCalls(calls, kPermutations, salt);
  }
  result.cliffs_delta = CliffsDelta(calls);
  if (!result.few_machines && result.calls > 0 && result.field_calls > 0) {
    const Int128 distance = ScalarsOf(mine).sum_mean - ScalarsOf(others.histogram).sum_mean;
    result.ratio = std::exp2(static_cast<double>(distance) * 0x1p-16);
  }
  return result;
}

void Decide(std::span<Comparison> report) {
  std::vector<Comparison*> eligible;
  std::vector<double> p_calls;
  std::vector<double> p_both;
  for (Comparison& comparison : report) {
    comparison.q_calls = comparison.q = 1;
    comparison.verdict = Verdict::kTooLittleData;
    if (!comparison.eligible()) continue;
    eligible.push_back(&comparison);
    p_calls.push_back(comparison.call_test.by_bucket.p);
    p_both.push_back(comparison.p());
  }
  const std::vector<double> q_calls = AdjustForFalseDiscoveries(p_calls);
  const std::vector<double> q_both = AdjustForFalseDiscoveries(p_both);
  for (std::size_t i = 0; i < eligible.size(); ++i) {
    Comparison& comparison = *eligible[i];
    comparison.q_calls = q_calls[i];
    comparison.q = q_both[i];
    if (comparison.q <= kFalseDiscoveries && comparison.cliffs_delta >= kLeastDelta &&
        comparison.ratio >= kLeastRatio) {
      comparison.verdict = Verdict::kWorse;
    } else if (comparison.q_calls <= kFalseDiscoveries) {
      comparison.verdict = Verdict::kDifferent;
    } else {
      comparison.verdict = Verdict::kNormal;
    }
  }
}

}  // namespace fieldcost::stats

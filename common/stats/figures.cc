#include "common/stats/figures.h"

#include <algorithm>

namespace fieldcost::stats {
namespace {

Quantiles QuantilesOfCalls(const CostHistogram& histogram) {
  return {.p50 = EstimateQuantile(histogram, 0.50),
          .p95 = EstimateQuantile(histogram, 0.95),
          .p99 = EstimateQuantile(histogram, 0.99)};
}

Quantiles QuantilesOfMachines(const ApiSums& sums) {
  return {.p50 = EstimateWeightedQuantile(sums.histogram, sums.weights, 0.50),
          .p95 = EstimateWeightedQuantile(sums.histogram, sums.weights, 0.95),
          .p99 = EstimateWeightedQuantile(sums.histogram, sums.weights, 0.99)};
}

CallFigures FiguresOfCalls(const CostHistogram& histogram) {
  return {.totals = histogram.Totals(),
          .timed = histogram.timed(),
          .mean = histogram.Mean(),
          .standard_deviation = histogram.StandardDeviation(),
          .quantiles = QuantilesOfCalls(histogram)};
}

BucketShares SharesOfCalls(const CostHistogram& histogram) {
  std::array<Uint128, shm::kBucketSlots> counts{};
  histogram.ForEachUsed([&](unsigned slot, const Bucket& bucket) { counts[slot] = bucket.count; });
  return Apportion(counts, kWeightOne);
}

bool IsNear(double a, double b) {
  const auto [low, high] = std::minmax({std::max(a, 1.0), std::max(b, 1.0)});
  return high <= low * kMostCostRatio;
}

bool IsWithin(Uint128 all, Uint128 bounded) {
  return static_cast<double>(all) <= kMostTotalRatio * static_cast<double>(bounded);
}

bool Agree(const ApiSums& sums, const CallFigures& calls, const Quantiles& machines) {
  const BoundedSums& bounded = sums.bounded;
  return IsWithin(sums.histogram.count(), bounded.calls) &&
         IsWithin(sums.histogram.sum(), bounded.sum) && IsNear(calls.mean, bounded.Mean()) &&
         IsNear(calls.quantiles.p50.estimate, machines.p50.estimate) &&
         IsNear(calls.quantiles.p95.estimate, machines.p95.estimate) &&
         IsNear(calls.quantiles.p99.estimate, machines.p99.estimate);
}

Figures OwnFigures(const ApiSums& sums) {
  Figures figures{.whose = Whose::kOwn, .contributions = sums.scalars.contributions};
  figures.all_calls = FiguresOfCalls(sums.histogram);
  figures.quantiles = figures.all_calls->quantiles;
  figures.shares = SharesOfCalls(sums.histogram);
  figures.calls = figures.all_calls->totals.count;
  figures.sum = figures.all_calls->totals.sum;
  figures.mean = figures.all_calls->mean;
  return figures;
}

}  // namespace

bool KnowsMachines(const ApiSums& sums) { return sums.weights.Contributions() != 0; }

bool KnowsBounds(const ApiSums& sums) { return sums.bounded.contributions != 0; }

bool AllCallsAgree(const ApiSums& sums) {
  return KnowsMachines(sums) && KnowsBounds(sums) &&
         Agree(sums, FiguresOfCalls(sums.histogram), QuantilesOfMachines(sums));
}

ContributionScalars ScalarsForTests(const ApiSums& sums) {
  ContributionScalars scalars = sums.fullest_quarter.scalars;
  if (KnowsBounds(sums) && !IsWithin(sums.histogram.count(), sums.bounded.calls)) {
    scalars.sum_within_squares = 0;
  }
  return scalars;
}

Figures FiguresOf(const ApiSums& sums, Whose whose) {
  if (whose == Whose::kOwn) return OwnFigures(sums);
  Figures figures{.whose = Whose::kField, .contributions = sums.scalars.contributions};
  if (KnowsMachines(sums)) {
    figures.machines = sums.weights.Contributions();
    figures.quantiles = QuantilesOfMachines(sums);
    figures.shares = SharesOf(sums.weights);
  }
  if (KnowsBounds(sums)) {
    figures.calls = sums.bounded.calls;
    figures.sum = sums.bounded.sum;
    figures.mean = sums.bounded.Mean();
  }
  if (figures.quantiles && figures.mean) {
    const CallFigures calls = FiguresOfCalls(sums.histogram);
    if (Agree(sums, calls, *figures.quantiles)) {
      figures.all_calls = calls;
    } else {
      figures.few_machines = true;
    }
  }
  return figures;
}

}  // namespace fieldcost::stats

#include "common/inference/effect_size.h"

#include <array>
#include <cmath>

#include "common/base/check.h"

namespace fieldcost::inference {
namespace {

using Shares = std::array<double, shm::kBucketSlots>;

// Each bucket's share; the sum is 1. All 0 if there are no costs.
Shares SharesOf(const Costs& costs) {
  Shares shares{};
  double total = 0;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    shares[slot] = costs.weights == nullptr
                       ? static_cast<double>(costs.histogram->bucket(slot).count)
                       : static_cast<double>(costs.weights->slots[slot]);
    total += shares[slot];
  }
  if (total > 0) {
    for (double& share : shares) share /= total;
  }
  return shares;
}

// Delta of the costs within a bucket that both sides use.
double WithinBucket(const stats::Bucket& before, const stats::Bucket& after) {
  FIELDCOST_CHECK(before.count != 0 && after.count != 0);
  const auto mean = [](const stats::Bucket& bucket) {
    return static_cast<double>(bucket.sum) / static_cast<double>(bucket.count);
  };
  const double distance = mean(after) - mean(before);
  const double deviation =
      std::hypot(stats::StandardDeviation(before), stats::StandardDeviation(after));
  if (deviation > 0) return std::erf(distance / (deviation * std::sqrt(2.0)));
  return distance > 0 ? 1 : distance < 0 ? -1 : 0;
}

}  // namespace

double CliffsDelta(const Costs& before, const Costs& after) {
  const Shares old_shares = SharesOf(before);
  const Shares new_shares = SharesOf(after);
  double old_below = 0;
  double old_above = 0;
  for (const double share : old_shares) old_above += share;
  double delta = 0;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    old_above -= old_shares[slot];
    delta += new_shares[slot] * (old_below - old_above);
    if (old_shares[slot] > 0 && new_shares[slot] > 0) {
      delta += old_shares[slot] * new_shares[slot] *
               WithinBucket(before.histogram->bucket(slot), after.histogram->bucket(slot));
    }
    old_below += old_shares[slot];
  }
  return std::fmin(1, std::fmax(-1, delta));
}

}  // namespace fieldcost::inference

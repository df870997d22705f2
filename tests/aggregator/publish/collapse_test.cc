#include "aggregator/publish/collapse.h"

#include <gtest/gtest.h>

#include <random>

#include "common/stats/agent_weights.h"
#include "common/stats/contribution.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::publish {
namespace {

// What a reader of fragments asks, in the dense form that it has.
bool WouldBeTaken(const store::CompactRow& row) {
  const stats::CostHistogram histogram = row.ToHistogram();
  return !row.saturated && stats::Validate(row.scalars) && stats::Validate(histogram) &&
         stats::Validate(row.ToWeights(), histogram, row.scalars.contributions);
}

store::CompactRow RandomRow(std::mt19937_64& random) {
  store::CompactRow sums;
  for (unsigned contribution = 0; contribution <= random() % 4; ++contribution) {
    stats::CostHistogram histogram;
    for (unsigned call = 0; call <= random() % 9; ++call)
      histogram.Add(random() >> (random() % 64));
    store::CompactRow row;
    row.SetHistogram(histogram);
    row.scalars = stats::ScalarsOf(histogram);
    row.SetWeights(stats::WeightsOf(histogram));
    sums.Add(row);
  }
  return sums;
}

// Something that no agent's rows can come to, most of the time.
void Spoil(std::mt19937_64& random, store::CompactRow& row) {
  store::CompactBucket& bucket = row.buckets[random() % row.buckets.size()];
  switch (random() % 7) {
    case 0:
      bucket.sums.count += 1 + random() % 2;
      break;
    case 1:
      bucket.sums.sum += random() % 3;
      break;
    case 2:
      bucket.sums.sum_of_squares -= random() % 3;
      break;
    case 3:
      bucket.set_weight(bucket.weight() + (random() % 2 == 0 ? 1 : stats::kWeightOne));
      break;
    case 4:
      row.scalars.contributions = random() % 3;
      break;
    case 5:
      bucket.sums.sum_of_squares = ~stats::Uint128{0} - random() % 2;
      break;
    default:
      row.saturated = true;
      break;
  }
}

TEST(CollapseTest, ARowIsSoundExactlyIfReadersWouldTakeIt) {
  std::mt19937_64 random(20261121);
  unsigned sound = 0;
  unsigned unsound = 0;
  for (int i = 0; i < 20'000; ++i) {
    store::CompactRow row = RandomRow(random);
    if (i % 2 != 0) Spoil(random, row);
    ASSERT_EQ(IsSound(row), WouldBeTaken(row)) << i;
    (IsSound(row) ? sound : unsound)++;
  }
  EXPECT_GT(sound, 5'000U);
  EXPECT_GT(unsound, 5'000U);
}

}  // namespace
}  // namespace fieldcost::publish

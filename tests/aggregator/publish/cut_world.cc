#include "tests/aggregator/publish/cut_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <memory>

#include "aggregator/publish/live_cuts.h"
#include "common/base/check.h"
#include "common/stats/agent_weights.h"
#include "common/stats/contribution.h"
#include "common/stats/contribution_sizes.h"
#include "common/stats/cost_histogram.h"
#include "tests/aggregator/publish/span_attack.h"

namespace fieldcost::publish {
namespace {

// The cost of batch b is a power of two from 2^kFirstPower on, which has a bucket of its own, plus
// a lower one. So the lower bits of the bucket's sum identify the batches.
constexpr std::size_t kFirstPower = 36;
constexpr std::size_t kBatchesPerPower = 35;

std::uint64_t CostOf(CutWorld::Batch batch) {
  const std::size_t power = kFirstPower + batch / kBatchesPerPower;
  return (std::uint64_t{1} << power) + (std::uint64_t{1} << batch % kBatchesPerPower);
}

store::CompactRow MakeRow(CutWorld::Batch batch, bool is_first) {
  stats::CostHistogram histogram;
  histogram.Add(CostOf(batch));
  store::CompactRow row;
  row.SetHistogram(histogram);
  if (is_first) {
    row.scalars = stats::ScalarsOf(histogram);
    row.SetWeights(stats::WeightsOf(histogram));
    row.sizes = stats::SizesOf(histogram);
  }
  return row;
}

const store::CompactRow& RowOf(CutWorld::Batch batch, bool is_first) {
  static std::map<std::pair<CutWorld::Batch, bool>, store::CompactRow> rows;
  const auto [place, is_new] = rows.try_emplace({batch, is_first});
  if (is_new) place->second = MakeRow(batch, is_first);
  return place->second;
}

bool IsIn(const std::vector<store::CutRange>& ranges, std::uint64_t number) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const store::CutRange& range) {
    return range.after_number < number && number <= range.until_number;
  });
}

bool Includes(const CutWorld::Batches& all, const CutWorld::Batches& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

}  // namespace

stats::HardwareClass ClassNumber(std::size_t hardware) {
  if (hardware == 0) return {};
  return {.architecture = "x86_64", .log2_cores = static_cast<std::uint32_t>(hardware)};
}

CutWorld::Batch CutWorld::Send(Agent agent, std::size_t hardware, unsigned week, bool is_first) {
  const Batch batch = batches_.size();
  FIELDCOST_CHECK(batch < kMaxBatches && week >= expired_weeks_);
  batches_.push_back({.agent = agent,
                      .hardware = hardware,
                      .week = week,
                      .is_first = is_first,
                      .number = ++number_});
  rows_[{ClassNumber(hardware), week}].Add(RowOf(batch, is_first));
  return batch;
}

void CutWorld::Withdraw(Batch batch, bool is_number_known) {
  SentBatch& sent = batches_[batch];
  FIELDCOST_CHECK(sent.is_in_store);
  sent.is_in_store = false;
  const auto row = rows_.find({ClassNumber(sent.hardware), sent.week});
  ASSERT_TRUE(row->second.Subtract(RowOf(batch, sent.is_first)));
  if (row->second == store::CompactRow{}) rows_.erase(row);
  WithdrawalMark mark{.number = {}, .weeks = static_cast<std::uint16_t>(1U << sent.week)};
  if (is_number_known) mark.number = sent.number;
  marks_.push_back(mark);
}

void CutWorld::Expire(unsigned weeks) {
  expired_weeks_ = std::max(expired_weeks_, weeks);
  std::erase_if(rows_, [&](const auto& row) { return row.first.second < weeks; });
  for (SentBatch& sent : batches_) {
    if (sent.week < weeks) sent.is_in_store = false;
  }
}

void CutWorld::BackUp() {
  saved_ = {.rows = rows_, .is_in_store = {}, .marks = marks_, .unit = unit_, .number = number_};
  for (const SentBatch& sent : batches_) saved_->is_in_store.push_back(sent.is_in_store);
}

void CutWorld::Restore() {
  FIELDCOST_CHECK(saved_.has_value());
  rows_ = saved_->rows;
  marks_ = saved_->marks;
  unit_ = saved_->unit;
  number_ = saved_->number;
  saved_->is_in_store.resize(batches_.size());  // with false
  for (Batch i = 0; i < batches_.size(); ++i) batches_[i].is_in_store = saved_->is_in_store[i];
  settles_ = true;
  Expire(expired_weeks_);
}

UnitSums CutWorld::InStore() const {
  UnitCollector collector(unit_);
  for (const auto& [key, row] : rows_) collector.Add(key.first, key.second, row);
  return collector.Take();
}

UnitChange CutWorld::Publish() {
  const UnitSums in_store = InStore();
  const store::PublishedUnit before = unit_;
  const UnitChange change = Advance({.in_store = in_store,
                                     .withdrawals = marks_,
                                     .expired_weeks = expired_weeks_,
                                     .settles = settles_,
                                     .number = number_,
                                     .now_s = now_s_,
                                     .threshold = threshold_},
                                    unit_);
  marks_.clear();
  settles_ = false;
  CheckChange(change, before);
  CheckState();
  Observe();
  return change;
}

CutWorld::Batches CutWorld::Decode(const store::CompactRow& row) const {
  Batches batches;
  for (const store::CompactBucket& bucket : row.buckets) {
    const std::uint64_t count = bucket.sums.count;
    const std::size_t power = bucket.slot - 1U;
    const auto bits =
        static_cast<std::uint64_t>(bucket.sums.sum - (stats::Uint128{count} << power));
    EXPECT_EQ(static_cast<std::uint64_t>(std::popcount(bits)), count) << "counted twice";
    for (std::size_t bit = 0; bit < kBatchesPerPower; ++bit) {
      if ((bits >> bit & 1U) != 0) batches.insert((power - kFirstPower) * kBatchesPerPower + bit);
    }
  }
  std::uint64_t contributions = 0;
  for (const Batch batch : batches) contributions += batches_.at(batch).is_first ? 1 : 0;
  EXPECT_EQ(row.scalars.contributions, contributions);
  return batches;
}

CutWorld::Batches CutWorld::Published() const { return Decode(PublishedSums(unit_)); }

CutWorld::Batches CutWorld::Published(std::size_t hardware) const {
  for (const store::TrackedClass& tracked : unit_.classes) {
    if (tracked.hardware == ClassNumber(hardware)) return Decode(PublishedSums(tracked));
  }
  return {};
}

void CutWorld::CheckChange(const UnitChange& change, const store::PublishedUnit& before) const {
  EXPECT_EQ(change.obstacle, CutObstacle::kNone);
  if (change.took_cut || change.removed_cuts != 0) return;
  EXPECT_EQ(PublishedSums(unit_), PublishedSums(before)) << "changed without a cut";
  EXPECT_EQ(store::LiveRanges(unit_), store::LiveRanges(before));
  for (const store::TrackedClass& tracked : unit_.classes) {
    for (const store::TrackedClass& other : before.classes) {
      if (tracked.hardware != other.hardware) continue;
      EXPECT_EQ(PublishedSums(tracked), PublishedSums(other)) << "changed without a cut";
    }
  }
}

void CutWorld::CheckState() const {
  EXPECT_TRUE(store::Validate(unit_));
  const Batches all = Published();
  for (const Batch batch : all) {
    EXPECT_TRUE(batches_[batch].is_in_store) << "published after its removal: " << batch;
  }
  EXPECT_TRUE(unit_.cuts.empty() || PublishedSums(unit_).scalars.contributions >= threshold_);
  for (const store::TrackedClass& tracked : unit_.classes) {
    const store::CompactRow sums = PublishedSums(tracked);
    const Batches of_class = Decode(sums);
    EXPECT_TRUE(Includes(all, of_class));
    EXPECT_TRUE(of_class.empty() || sums.scalars.contributions >= threshold_);
    for (const Batch batch : of_class) {
      EXPECT_EQ(ClassNumber(batches_[batch].hardware), tracked.hardware);
    }
  }
  // The ranges name exactly the published batches, if no restore used numbers again.
  if (saved_) return;
  const std::vector<store::CutRange> ranges = store::LiveRanges(unit_);
  for (Batch batch = 0; batch < batches_.size(); ++batch) {
    const SentBatch& sent = batches_[batch];
    if (!sent.is_in_store) continue;
    EXPECT_EQ(IsIn(ranges, sent.number), all.contains(batch));
  }
  for (const store::TrackedClass& tracked : unit_.classes) {
    const std::vector<store::CutRange> ranges_of_class = RangesOf(tracked);
    const Batches of_class = Decode(PublishedSums(tracked));
    for (Batch batch = 0; batch < batches_.size(); ++batch) {
      const SentBatch& sent = batches_[batch];
      if (!sent.is_in_store || ClassNumber(sent.hardware) != tracked.hardware) continue;
      EXPECT_EQ(IsIn(ranges_of_class, sent.number), of_class.contains(batch));
    }
  }
}

void CutWorld::Observe() {
  ever_published_.insert(Published());
  for (const store::TrackedClass& tracked : unit_.classes) {
    ever_published_.insert(Decode(PublishedSums(tracked)));
  }
  std::map<std::uint32_t, store::CompactRow> periods;
  for (const store::PublishedCut& cut : unit_.cuts) periods[PeriodOf(cut)].Add(cut.sums);
  for (const auto& [period, sums] : periods) ever_published_.insert(Decode(sums));
  ever_published_.erase(Batches{});
}

std::optional<std::set<CutWorld::Agent>> CutWorld::FindIsolated() const {
  std::vector<std::size_t> agent_of_batch;
  agent_of_batch.reserve(batches_.size());
  for (const SentBatch& sent : batches_) agent_of_batch.push_back(sent.agent);
  return SpanAttack(ever_published_, agent_of_batch, threshold_);
}

}  // namespace fieldcost::publish

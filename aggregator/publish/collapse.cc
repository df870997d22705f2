#include "aggregator/publish/collapse.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/stats/agent_weights.h"
#include "common/stats/contribution.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::publish {
namespace {

// The rows of one API and metric, which stand together in the store.
class Group {
 public:
  Group(std::uint32_t threshold, const CollapsedVisitor& visit)
      : threshold_(threshold), visit_(visit) {}

  Status Add(const stats::RowKey& key, const store::CompactRow& row) {
    if (!open_ || key.api != key_.api || key.metric != key_.metric) {
      FIELDCOST_TRY(End());
      key_.api = key.api;
      key_.metric = key.metric;
      open_ = true;
    }
    sums_.Add(row);
    auto week = std::find_if(contributions_by_week_.begin(), contributions_by_week_.end(),
                             [&](const auto& known) { return known.first == key.week; });
    if (week == contributions_by_week_.end()) {
      week = contributions_by_week_.emplace(week, key.week, 0);
    }
    week->second += row.scalars.contributions;
    return {};
  }

  Status End() {
    if (!open_) return {};
    open_ = false;
    const std::uint64_t most =
        std::max_element(contributions_by_week_.begin(), contributions_by_week_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; })
            ->second;
    Status status;
    if (most < threshold_) {
      ++counts_.withheld;
    } else if (!IsSound(sums_)) {
      ++counts_.unsound;
    } else {
      ++counts_.published;
      status = visit_(key_, sums_);
    }
    sums_.Clear();
    contributions_by_week_.clear();
    return status;
  }

  const CollapseCounts& counts() const { return counts_; }

 private:
  const std::uint32_t threshold_;
  const CollapsedVisitor& visit_;
  bool open_ = false;
  stats::RowKey key_;
  store::CompactRow sums_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> contributions_by_week_;
  CollapseCounts counts_;
};

}  // namespace

bool IsSound(const store::CompactRow& row) {
  if (row.saturated || !stats::Validate(row.scalars)) return false;
  bool overflows = false;
  stats::Bucket total;
  const stats::Uint128 most = stats::Uint128{row.scalars.contributions} << stats::kWeightBits;
  stats::Uint128 weight = 0;
  for (const store::CompactBucket& bucket : row.buckets) {
    if (bucket.sums.count == 0 || !stats::ValidateBucket(bucket.slot, bucket.sums)) return false;
    total.count = stats::SaturatingAdd(total.count, bucket.sums.count, overflows);
    total.sum = stats::SaturatingAdd(total.sum, bucket.sums.sum, overflows);
    total.sum_of_squares =
        stats::SaturatingAdd(total.sum_of_squares, bucket.sums.sum_of_squares, overflows);
    if (bucket.weight() > most - weight) return false;
    weight += bucket.weight();
  }
  return !overflows && weight % stats::kWeightOne == 0;
}

Result<CollapseCounts> Collapse(const store::Store::Snapshot& snapshot,
                                const store::Store::Snapshot::RowRange& range,
                                std::uint32_t threshold, const CollapsedVisitor& visit) {
  Group group(threshold, visit);
  FIELDCOST_TRY(snapshot.ForEach(
      [&](const stats::RowKey& key, const store::CompactRow& row) { return group.Add(key, row); },
      range));
  FIELDCOST_TRY(group.End());
  return group.counts();
}

}  // namespace fieldcost::publish

#include "aggregator/publish/collapse.h"

#include <algorithm>
#include <utility>
#include <vector>

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
    } else if (!IsSound()) {
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
  bool IsSound() const {
    if (sums_.saturated || !stats::Validate(sums_.scalars)) return false;
    const stats::CostHistogram histogram = sums_.ToHistogram();
    return stats::Validate(histogram) &&
           stats::Validate(sums_.ToWeights(), histogram, sums_.scalars.contributions);
  }

  const std::uint32_t threshold_;
  const CollapsedVisitor& visit_;
  bool open_ = false;
  stats::RowKey key_;
  store::CompactRow sums_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> contributions_by_week_;
  CollapseCounts counts_;
};

}  // namespace

Result<CollapseCounts> Collapse(const store::Store::Snapshot& snapshot, std::uint32_t threshold,
                                const CollapsedVisitor& visit) {
  Group group(threshold, visit);
  FIELDCOST_TRY(snapshot.ForEach(
      [&](const stats::RowKey& key, const store::CompactRow& row) { return group.Add(key, row); }));
  FIELDCOST_TRY(group.End());
  return group.counts();
}

}  // namespace fieldcost::publish

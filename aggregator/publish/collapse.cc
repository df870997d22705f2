#include "aggregator/publish/collapse.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "aggregator/publish/limits.h"
#include "common/stats/agent_weights.h"
#include "common/stats/contribution.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::publish {
namespace {

// How many contributions came in in each week.
class Weeks {
 public:
  void Add(std::uint32_t week, std::uint64_t contributions) { Of(week) += contributions; }
  void Add(const Weeks& other) {
    for (const auto& [week, contributions] : other.weeks_) Add(week, contributions);
  }
  // REQUIRES: `other` was added before.
  void Subtract(const Weeks& other) {
    for (const auto& [week, contributions] : other.weeks_) Of(week) -= contributions;
  }
  void Clear() { weeks_.clear(); }
  bool Reaches(std::uint32_t threshold) const {
    return std::any_of(weeks_.begin(), weeks_.end(),
                       [&](const auto& week) { return week.second >= threshold; });
  }

 private:
  std::uint64_t& Of(std::uint32_t week) {
    auto found = std::find_if(weeks_.begin(), weeks_.end(),
                              [&](const auto& known) { return known.first == week; });
    if (found == weeks_.end()) found = weeks_.emplace(found, week, 0);
    return found->second;
  }
  std::vector<std::pair<std::uint32_t, std::uint64_t>> weeks_;
};

// One hardware class, or all.
struct ClassSums {
  stats::HardwareClass hardware;
  store::CompactRow row;
  Weeks weeks;

  std::uint64_t contributions() const { return row.scalars.contributions; }
  void Clear() {
    row.Clear();
    weeks.Clear();
  }
};

// The rows of one API and metric, which stand together in the store, and of them those of a class.
class Group {
 public:
  Group(std::uint32_t threshold, const CollapsedVisitor& visit)
      : threshold_(threshold), visit_(visit) {}

  Status Add(const stats::RowKey& key, const store::CompactRow& row) {
    if (classes_ != 0 && (key.api != key_.api || key.metric != key_.metric)) FIELDCOST_TRY(End());
    if (classes_ == 0) {
      key_.api = key.api;
      key_.metric = key.metric;
      BeginClass(key.hardware);
    } else if (key.hardware != class_.hardware) {
      EndClass();
      BeginClass(key.hardware);
    }
    class_.row.Add(row);
    class_.weeks.Add(key.week, row.scalars.contributions);
    return {};
  }

  Status End() {
    if (classes_ == 0) return {};
    // A class that is the only one is all of them.
    const bool is_only = classes_ == 1;
    if (!is_only) EndClass();
    const ClassSums& all = is_only ? class_ : all_;
    Status status;
    if (!all.weeks.Reaches(threshold_)) {
      ++counts_.withheld;
    } else if (!IsSound(all.row)) {
      ++counts_.unsound;
    } else {
      if (!is_only) DropUnsafeClasses();
      status = Visit(all.row);
    }
    classes_ = 0;
    class_.Clear();
    all_.Clear();
    candidates_.clear();
    return status;
  }

  const CollapseCounts& counts() const { return counts_; }

 private:
  static bool HasMore(const ClassSums& a, const ClassSums& b) {
    if (a.contributions() != b.contributions()) return a.contributions() > b.contributions();
    return a.hardware < b.hardware;
  }

  void BeginClass(const stats::HardwareClass& hardware) {
    ++classes_;
    class_.hardware = hardware;
  }

  void EndClass() {
    all_.row.Add(class_.row);
    all_.weeks.Add(class_.weeks);
    // What has no class would pass for the sum over all.
    if (class_.hardware != stats::HardwareClass{} && class_.weeks.Reaches(threshold_) &&
        IsSound(class_.row)) {
      const auto place = std::upper_bound(candidates_.begin(), candidates_.end(), class_, HasMore);
      candidates_.insert(place, std::move(class_));
      if (candidates_.size() > kMaxClassesOfRow) candidates_.pop_back();
    }
    class_.Clear();
  }

  // Leaves of the candidates those that may be published.
  void DropUnsafeClasses() {
    if (candidates_.size() == classes_) return;
    Weeks rest = all_.weeks;
    for (const ClassSums& candidate : candidates_) rest.Subtract(candidate.weeks);
    // One is enough: as it reaches the threshold, so does the rest together with it.
    if (!rest.Reaches(threshold_) && !candidates_.empty()) candidates_.pop_back();
  }

  Status Visit(const store::CompactRow& all) {
    std::sort(candidates_.begin(), candidates_.end(),
              [](const auto& a, const auto& b) { return a.hardware < b.hardware; });
    counts_.published += 1 + candidates_.size();
    FIELDCOST_TRY(visit_(key_, all));
    stats::RowKey key = key_;
    for (const ClassSums& candidate : candidates_) {
      key.hardware = candidate.hardware;
      FIELDCOST_TRY(visit_(key, candidate.row));
    }
    return {};
  }

  const std::uint32_t threshold_;
  const CollapsedVisitor& visit_;
  stats::RowKey key_;                  // without a class
  std::size_t classes_ = 0;            // so far, with the one whose rows are coming
  ClassSums class_;                    // that one
  ClassSums all_;                      // of the others
  std::vector<ClassSums> candidates_;  // most contributions first
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
  return !overflows && weight % stats::kWeightOne == 0 &&
         stats::Validate(row.sizes.buckets, row.scalars.contributions, total).has_value();
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

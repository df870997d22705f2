#include "aggregator/publish/unit_sums.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/check.h"

namespace fieldcost::publish {
namespace {

bool HasMoreContributions(const ClassInStore& a, const ClassInStore& b) {
  const std::uint64_t of_a = a.sums.scalars.contributions;
  const std::uint64_t of_b = b.sums.scalars.contributions;
  return of_a != of_b ? of_a > of_b : a.hardware < b.hardware;
}

}  // namespace

const ClassInStore* FindClass(const UnitSums& sums, const stats::HardwareClass& hardware) {
  const auto found = std::lower_bound(
      sums.classes.begin(), sums.classes.end(), hardware,
      [](const ClassInStore& one, const stats::HardwareClass& key) { return one.hardware < key; });
  return found == sums.classes.end() || found->hardware != hardware ? nullptr : &*found;
}

void UnitCollector::Add(const stats::HardwareClass& hardware, unsigned week,
                        const store::CompactRow& row) {
  FIELDCOST_CHECK(week < store::kWeeksOfUnit);
  if (has_class_ && hardware != class_.hardware) EndClass();
  if (!has_class_) {
    has_class_ = true;
    class_.hardware = hardware;
  }
  class_.sums.Add(row);
  for (const store::CompactBucket& bucket : row.buckets) {
    sums_.week_calls[week] += bucket.sums.count;
  }
}

void UnitCollector::EndClass() {
  has_class_ = false;
  sums_.total.Add(class_.sums);
  const bool is_tracked = std::any_of(
      published_.classes.begin(), published_.classes.end(),
      [&](const store::TrackedClass& tracked) { return tracked.hardware == class_.hardware; });
  if (is_tracked) {
    sums_.classes.push_back(std::move(class_));
  } else {
    const auto place =
        std::upper_bound(candidates_.begin(), candidates_.end(), class_, HasMoreContributions);
    candidates_.insert(place, std::move(class_));
    if (candidates_.size() > store::kMaxTrackedClasses) {
      candidates_.pop_back();
      sums_.has_more = true;
    }
  }
  class_ = {};
}

UnitSums UnitCollector::Take() {
  if (has_class_) EndClass();
  std::move(candidates_.begin(), candidates_.end(), std::back_inserter(sums_.classes));
  std::sort(sums_.classes.begin(), sums_.classes.end(),
            [](const ClassInStore& a, const ClassInStore& b) { return a.hardware < b.hardware; });
  return std::move(sums_);
}

}  // namespace fieldcost::publish

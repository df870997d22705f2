#include "aggregator/publish/collapse.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "aggregator/publish/publish_limits.h"
#include "common/stats/agent_weights.h"
#include "common/stats/contribution.h"
#include "common/stats/cost_histogram.h"
#include "common/wire/epoch.h"

namespace fieldcost::publish {
namespace {

// Contributions in the same quarter come from different agents, since all rows of an agent are from
// one quarter. Below, "week" means the first week of a quarter.

// The scalars of each quarter's contributions, ascending.
class Quarters {
 public:
  using Week = std::pair<std::uint32_t, stats::ContributionScalars>;

  void Add(std::uint32_t week, const stats::ContributionScalars& scalars) {
    if (scalars.contributions == 0) return;
    auto place = std::lower_bound(weeks_.begin(), weeks_.end(), week, IsBefore);
    if (place == weeks_.end() || place->first != week) {
      place = weeks_.emplace(place, week, stats::ContributionScalars{});
    }
    place->second.Merge(scalars);
  }
  void Add(const Quarters& other) {
    for (const auto& [week, scalars] : other.weeks_) Add(week, scalars);
  }
  void Clear() { weeks_.clear(); }

  const std::vector<Week>& all() const { return weeks_; }
  bool Reaches(std::uint32_t threshold) const {
    return std::any_of(weeks_.begin(), weeks_.end(),
                       [&](const Week& week) { return week.second.contributions >= threshold; });
  }
  // Empty if the quarter has no contributions.
  stats::QuarterScalars ScalarsOf(std::uint32_t week) const {
    const auto place = std::lower_bound(weeks_.begin(), weeks_.end(), week, IsBefore);
    if (place == weeks_.end() || place->first != week) return {};
    return {.week = week, .scalars = place->second};
  }

 private:
  static bool IsBefore(const Week& a, std::uint32_t week) { return a.first < week; }
  std::vector<Week> weeks_;
};

// The number of contributions in each of several quarters.
using WeekCounts = std::vector<std::uint64_t>;

// The contributions of `part` in each quarter of `all`, which includes `part`.
WeekCounts CountsOf(const Quarters& part, const Quarters& all) {
  WeekCounts counts;
  auto next = part.all().begin();
  for (const auto& [week, scalars] : all.all()) {
    const bool is_there = next != part.all().end() && next->first == week;
    counts.push_back(is_there ? next++->second.contributions : 0);
  }
  return counts;
}

bool HasOutside(const WeekCounts& counts, std::size_t week) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (i != week && counts[i] != 0) return true;
  }
  return false;
}

// Whether the contributions in the week and those outside are each either zero or at least the
// threshold.
bool MayBeSplit(const WeekCounts& counts, std::size_t week, std::uint32_t threshold) {
  bool reaches_outside = !HasOutside(counts, week);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    reaches_outside = reaches_outside || (i != week && counts[i] >= threshold);
  }
  return reaches_outside && (counts[week] == 0 || counts[week] >= threshold);
}

// Whether the sum of these groups' contributions in the week may be published. Each group is either
// published itself or part of the unpublished rest. Readers can subtract groups that are entirely
// inside or entirely outside the week; only groups that the week divides hide each other.
bool MayBeSplitTogether(const std::vector<const WeekCounts*>& groups, std::size_t week,
                        std::uint32_t threshold) {
  WeekCounts divided;
  for (const WeekCounts* group : groups) {
    if ((*group)[week] == 0 || !HasOutside(*group, week)) continue;
    divided.resize(group->size());
    for (std::size_t i = 0; i < divided.size(); ++i) divided[i] += (*group)[i];
  }
  return divided.empty() || MayBeSplit(divided, week, threshold);
}

// The sums of one hardware class, or of all.
struct ClassSums {
  stats::HardwareClass hardware;
  store::CompactRow row;
  Quarters weeks;

  std::uint64_t contributions() const { return row.scalars.contributions; }
  void Clear() {
    row.Clear();
    weeks.Clear();
  }
};

// The rows of one API and metric. They are adjacent in the store, and among them those of each
// class.
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
    if (!Fits(row)) {
      ++counts_.left_out;
      NoteInconsistent(key);
      return {};
    }
    class_.row.Add(row);
    class_.weeks.Add(wire::FirstWeekOfQuarter(key.week), row.scalars);
    return {};
  }

  Status End() {
    if (classes_ == 0) return {};
    // A single class equals all classes.
    const bool is_only = classes_ == 1;
    if (!is_only) EndClass();
    const ClassSums& all = is_only ? class_ : all_;
    Status status;
    if (!all.weeks.Reaches(threshold_)) {
      ++counts_.withheld;
    } else if (!IsSound(all.row)) {
      ++counts_.unsound;
      NoteInconsistent(key_);
    } else {
      if (!is_only) DropUnsafeClasses();
      status = Visit(all);
    }
    classes_ = 0;
    totals_ = {};
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

  // Whether the sum over all classes and weeks can take the row; if so, adds it. The sums of one
  // week and class never overflow (aggregator/ingest/ingest_limits.h), but agents can invent
  // classes.
  bool Fits(const store::CompactRow& row) {
    stats::Bucket totals = totals_;
    bool overflows = row.saturated;
    for (const store::CompactBucket& bucket : row.buckets) {
      totals.count = stats::SaturatingAdd(totals.count, bucket.sums.count, overflows);
      totals.sum = stats::SaturatingAdd(totals.sum, bucket.sums.sum, overflows);
      totals.sum_of_squares =
          stats::SaturatingAdd(totals.sum_of_squares, bucket.sums.sum_of_squares, overflows);
    }
    if (!overflows) totals_ = totals;
    return !overflows;
  }

  void NoteInconsistent(const stats::RowKey& key) {
    if (counts_.inconsistent.size() < kMaxInconsistentRows) counts_.inconsistent.push_back(key);
  }

  void BeginClass(const stats::HardwareClass& hardware) {
    ++classes_;
    class_.hardware = hardware;
  }

  void EndClass() {
    all_.row.Add(class_.row);
    all_.weeks.Add(class_.weeks);
    // Rows without a class would look like the sum over all classes.
    if (class_.hardware != stats::HardwareClass{} && class_.weeks.Reaches(threshold_) &&
        IsSound(class_.row)) {
      const auto place = std::upper_bound(candidates_.begin(), candidates_.end(), class_, HasMore);
      candidates_.insert(place, std::move(class_));
      if (candidates_.size() > kMaxClassesOfRow) candidates_.pop_back();
    }
    class_.Clear();
  }

  // Removes candidates that may not be published.
  void DropUnsafeClasses() {
    if (candidates_.size() == classes_) return;
    const WeekCounts rest = RestOf(all_);
    // Removing one suffices: it reaches the threshold, so the rest that it joins does, too.
    if (std::none_of(rest.begin(), rest.end(), [&](auto count) { return count >= threshold_; }) &&
        !candidates_.empty()) {
      candidates_.pop_back();
    }
  }

  // The contributions of all classes except the candidates.
  WeekCounts RestOf(const ClassSums& all) const {
    WeekCounts rest = CountsOf(all.weeks, all.weeks);
    for (const ClassSums& candidate : candidates_) {
      const WeekCounts counts = CountsOf(candidate.weeks, all.weeks);
      for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= counts[i];
    }
    return rest;
  }

  // The week published with scalars of its own, in addition to those of all weeks (0 = none), and
  // the candidates that also have their scalars of that week published.
  struct Told {
    std::uint32_t week = 0;
    std::vector<bool> of_candidate;
  };
  Told ChooseWeek(const ClassSums& all) const {
    Told told{.week = 0, .of_candidate = std::vector<bool>(candidates_.size(), false)};
    std::vector<WeekCounts> groups;
    for (const ClassSums& one : candidates_) groups.push_back(CountsOf(one.weeks, all.weeks));
    groups.push_back(RestOf(all));
    std::vector<const WeekCounts*> hidden;  // their part of the week is not published
    for (const WeekCounts& group : groups) hidden.push_back(&group);
    const std::optional<std::size_t> week = FullestQuarter(all, hidden);
    if (!week) return told;
    told.week = all.weeks.all()[*week].first;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (!MayBeSplit(groups[i], *week, threshold_)) continue;
      std::vector<const WeekCounts*> others = hidden;
      std::erase(others, &groups[i]);
      if (!MayBeSplitTogether(others, *week, threshold_)) continue;
      hidden = std::move(others);
      told.of_candidate[i] = true;
    }
    return told;
  }

  // Returns the index of the week with the most contributions (the last of equals) among those that
  // may be published.
  std::optional<std::size_t> FullestQuarter(const ClassSums& all,
                                            const std::vector<const WeekCounts*>& groups) const {
    std::optional<std::size_t> fullest;
    std::uint64_t most = threshold_;
    for (std::size_t i = 0; i < all.weeks.all().size(); ++i) {
      const std::uint64_t count = all.weeks.all()[i].second.contributions;
      if (count < most || !MayBeSplitTogether(groups, i, threshold_)) continue;
      most = count;
      fullest = i;
    }
    return fullest;
  }

  Status Visit(const ClassSums& all) {
    const Told told = ChooseWeek(all);
    std::vector<std::size_t> order(candidates_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return candidates_[a].hardware < candidates_[b].hardware;
    });
    counts_.published += 1 + candidates_.size();
    FIELDCOST_TRY(Visit(key_, all, told.week));
    stats::RowKey key = key_;
    for (const std::size_t i : order) {
      const ClassSums& candidate = candidates_[i];
      key.hardware = candidate.hardware;
      FIELDCOST_TRY(Visit(key, candidate, told.of_candidate[i] ? told.week : 0));
    }
    return {};
  }

  Status Visit(const stats::RowKey& key, const ClassSums& sums, std::uint32_t week) const {
    stats::QuarterScalars scalars = sums.weeks.ScalarsOf(week);
    if (!stats::Validate(scalars, sums.row.scalars)) scalars = {};  // readers would refuse it
    return visit_(key, sums.row, scalars);
  }

  const std::uint32_t threshold_;
  const CollapsedVisitor& visit_;
  stats::RowKey key_;                  // without a class
  std::size_t classes_ = 0;            // so far, including the current one
  ClassSums class_;                    // the current class
  ClassSums all_;                      // the classes before it
  stats::Bucket totals_;               // of all classes
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
  return !overflows && (weight == 0 || weight == most) &&
         stats::ValidateTimed(total.count, row.untimed, row.buckets.size()).has_value() &&
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

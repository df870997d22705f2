#include "aggregator/store/verify_published.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/stats/agent_weights.h"
#include "common/stats/contribution.h"
#include "common/stats/contribution_sizes.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::store {
namespace {

// Whether the rows contain the sum of these parts or cuts. Saturated rows cannot be compared.
template <typename Parts>
bool Contain(const CompactRow& rows, const Parts& parts) {
  CompactRow sum;
  for (const auto& part : parts) sum.Add(part.sums);
  if (rows.saturated || parts.empty()) return true;
  CompactRow rest = rows;
  return !sum.saturated && rest.Subtract(sum).has_value();
}

}  // namespace

Status CheckSums(const CompactRow& sums) {
  const stats::CostHistogram histogram = sums.ToHistogram();
  FIELDCOST_TRY(stats::Validate(histogram));
  FIELDCOST_TRY(stats::Validate(sums.scalars));
  FIELDCOST_TRY(stats::Validate(sums.ToWeights(), histogram, sums.scalars.contributions));
  return stats::Validate(sums.sizes.buckets, sums.scalars.contributions, histogram.Totals());
}

void PublishedCheck::Report(const PublishedKey& key, std::string_view what) {
  problem_(fmt::format("{} ({}, quarter of week {}): {}", stats::DisplayName(key.api),
                       stats::Name(key.metric), key.first_week, what));
}

Status PublishedCheck::ReadNext() {
  FIELDCOST_ASSIGN(next_, reader_.Next());
  if (next_ != nullptr) CheckEntry(*next_);
  return {};
}

// Checks what does not depend on the rows.
void PublishedCheck::CheckEntry(const PublishedEntry& entry) {
  marks_ += entry.marks.size();
  for (const WithdrawalMark& mark : entry.marks) {
    if (mark.withdrawal > bounds_.last_number) {
      Report(entry.key, "a withdrawal is marked that never came");
    } else if (mark.withdrawal <= bounds_.published_number) {
      Report(entry.key, "a withdrawal is marked, but the last publication has handled it");
    } else if (mark.record.value_or(0) >= mark.withdrawal) {
      Report(entry.key, "a withdrawal is marked that is older than its batch");
    }
  }
  if (!entry.unit) return;
  ++units_;
  const auto check_ranges = [&](const std::vector<CutRange>& ranges) {
    if (!ranges.empty() && ranges.back().until_number > bounds_.published_number) {
      Report(entry.key, "a cut is newer than the last publication");
    }
  };
  const auto check_sums = [&](const CompactRow& sums) {
    if (const Status status = CheckSums(sums); !status) {
      Report(entry.key, "published sums: " + status.error().message);
    }
  };
  check_ranges(entry.unit->waiting);
  for (const PublishedCut& cut : entry.unit->cuts) {
    check_ranges(cut.ranges);
    check_sums(cut.sums);
  }
  for (const TrackedClass& tracked : entry.unit->classes) {
    for (const ClassPart& part : tracked.parts) check_sums(part.sums);
  }
}

Status PublishedCheck::Begin(const stats::ApiKey& api, stats::Metric metric) {
  for (const Unit& unit : std::exchange(current_, {})) Compare(unit);
  if (!std::exchange(started_, true)) FIELDCOST_TRY(ReadNext());
  api_ = api;
  metric_ = metric;
  while (next_ != nullptr) {
    const auto order = std::tie(next_->key.api, next_->key.metric) <=> std::tie(api, metric);
    if (order > 0) break;
    Unit unit{.entry = *next_, .rows = {}, .classes = {}};
    if (order == 0) {
      if (unit.entry.unit) current_.push_back(std::move(unit));
    } else {
      Compare(unit);  // it has no rows
    }
    FIELDCOST_TRY(ReadNext());
  }
  return {};
}

Status PublishedCheck::Add(const stats::RowKey& key, const CompactRow& row) {
  if (!started_ || !IsCurrent(key.api, key.metric)) FIELDCOST_TRY(Begin(key.api, key.metric));
  for (Unit& unit : current_) {
    if (unit.entry.key.first_week != wire::FirstWeekOfQuarter(key.week)) continue;
    unit.rows.Add(row);
    const auto& tracked = unit.entry.unit->classes;
    if (std::ranges::find(tracked, key.hardware, &TrackedClass::hardware) != tracked.end()) {
      unit.classes[key.hardware].Add(row);
    }
  }
  return {};
}

void PublishedCheck::Compare(const Unit& unit) {
  const PublishedEntry& entry = unit.entry;
  if (!entry.unit || !entry.marks.empty() || entry.key.first_week < bounds_.first_week) return;
  if (!Contain(unit.rows, entry.unit->cuts)) {
    Report(entry.key, "more was published than the rows have");
  }
  for (const TrackedClass& tracked : entry.unit->classes) {
    const auto rows = unit.classes.find(tracked.hardware);
    if (!Contain(rows == unit.classes.end() ? CompactRow() : rows->second, tracked.parts)) {
      Report(entry.key, fmt::format("more was published of {} than the rows have",
                                    stats::DisplayName(tracked.hardware)));
    }
  }
}

Status PublishedCheck::Finish(VerifyReport& report) {
  for (const Unit& unit : std::exchange(current_, {})) Compare(unit);
  if (!std::exchange(started_, true)) FIELDCOST_TRY(ReadNext());
  while (next_ != nullptr) {
    Compare({.entry = *next_, .rows = {}, .classes = {}});
    FIELDCOST_TRY(ReadNext());
  }
  report.published_units = units_;
  report.marked_withdrawals = marks_;
  return {};
}

}  // namespace fieldcost::store

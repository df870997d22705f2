#include "aggregator/upkeep/retention.h"

#include <algorithm>

#include "aggregator/store/retention_rules.h"

namespace fieldcost::aggregator {
namespace {

constexpr char kLastDeletionWeek[] = "last_deletion_week";

// The newest week of any row; 0 if there is none.
Result<std::uint32_t> NewestWeek(store::Store& store) {
  FIELDCOST_ASSIGN(const store::Store::Snapshot snapshot, store.TakeSnapshot());
  std::uint32_t newest = 0;
  FIELDCOST_TRY(snapshot.ForEach([&](const stats::RowKey& key, const store::CompactRow&) -> Status {
    newest = std::max(newest, key.week);
    return {};
  }));
  return newest;
}

// Makes the deletion that is due in `week`.
Result<store::ExpiryReport> Delete(store::Store& store, std::uint32_t week, std::uint32_t weeks) {
  const store::RetentionBounds bounds = store::BoundsOf(week, weeks);
  FIELDCOST_ASSIGN(store::ExpiryReport report, store.Expire(bounds.first_week, bounds.first_epoch));
  FIELDCOST_ASSIGN(const std::uint64_t stranded, store.DropHeldBefore(bounds.first_open_epoch));
  report.held_batches += stranded;
  FIELDCOST_ASSIGN(const std::uint64_t forgotten,
                   store.ForgetBatchesBefore(bounds.first_open_epoch));
  report.kept_batches += forgotten;
  return report;
}

}  // namespace

Result<store::ExpiryReport> DeleteOld(store::Store& store, const Clock& clock,
                                      std::uint32_t weeks) {
  const std::uint32_t now = WeekOf(clock.Now());
  FIELDCOST_ASSIGN(std::uint64_t last, store.GetNumber(kLastDeletionWeek));
  if (last == 0) {
    FIELDCOST_ASSIGN(last, NewestWeek(store));
  }
  if (last == 0) {
    // Only held batches can be too old; the next deletion handles them.
    if (store.Gauges().held_batches != 0) FIELDCOST_TRY(store.PutNumber(kLastDeletionWeek, now));
    return store::ExpiryReport();
  }
  if (now > last + kMaxWeeksBetweenDeletions) {
    return Fail(
        ErrorCode::kUnavailable,
        "nothing is deleted: by the clock it is week {}, but it was week {} before; if the "
        "clock is right, `fieldcost-aggregator expire --config FILE --before {}` shows what "
        "is due, and deletes it with --yes",
        now, last, now - std::min(now, weeks));
  }
  FIELDCOST_ASSIGN(const store::ExpiryReport report, Delete(store, now, weeks));
  FIELDCOST_TRY(store.PutNumber(kLastDeletionWeek, now));
  return report;
}

Result<store::ExpiryEffect> DeleteBefore(store::Store& store, const Clock& clock,
                                         std::uint32_t weeks, std::uint32_t before_week, bool yes) {
  const std::uint32_t now = WeekOf(clock.Now());
  if (before_week > now) {
    return Fail(ErrorCode::kInvalidArgument,
                "week {} ({}) is in the future: by the clock it is week {} ({})", before_week,
                FirstDayOf(before_week), now, FirstDayOf(now));
  }
  const std::uint32_t first_kept = now - std::min(now, weeks);
  if (before_week > first_kept) {
    return Fail(ErrorCode::kInvalidArgument,
                "not all rows before week {} ({}) are too old: store.retention_weeks = {} keeps "
                "those from week {} ({}) on",
                before_week, FirstDayOf(before_week), weeks, first_kept, FirstDayOf(first_kept));
  }
  const std::uint32_t week = before_week + weeks;
  if (!yes) return store.EffectOfExpiring(store::BoundsOf(week, weeks));
  FIELDCOST_ASSIGN(const store::ExpiryReport report, Delete(store, week, weeks));
  // Never lowers it, since deleting less than what is due proves nothing about the clock.
  FIELDCOST_ASSIGN(const std::uint64_t last, store.GetNumber(kLastDeletionWeek));
  if (last < week) FIELDCOST_TRY(store.PutNumber(kLastDeletionWeek, week));
  return store::ExpiryEffect{report};
}

}  // namespace fieldcost::aggregator

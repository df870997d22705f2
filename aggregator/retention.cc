#include "aggregator/retention.h"

#include <algorithm>

#include "aggregator/store/retention.h"

namespace fieldcost::aggregator {
namespace {

constexpr char kLastDeletionWeek[] = "last_deletion_week";

// 0 if there is no row.
Result<std::uint32_t> NewestWeek(store::Store& store) {
  FIELDCOST_ASSIGN(const store::Store::Snapshot snapshot, store.TakeSnapshot());
  std::uint32_t newest = 0;
  FIELDCOST_TRY(snapshot.ForEach([&](const stats::RowKey& key, const store::CompactRow&) -> Status {
    newest = std::max(newest, key.week);
    return {};
  }));
  return newest;
}

}  // namespace

Result<store::ExpiryReport> DeleteOld(store::Store& store, const Clock& clock, std::uint32_t weeks,
                                      DeletionBy by) {
  const std::uint32_t now = WeekOf(clock.Now());
  if (by == DeletionBy::kServer) {
    FIELDCOST_ASSIGN(std::uint64_t last, store.GetNumber(kLastDeletionWeek));
    if (last == 0) {
      FIELDCOST_ASSIGN(last, NewestWeek(store));
    }
    if (last == 0) {
      // Nothing but what is held can be too old; the next time will tell.
      if (store.Gauges().held_batches != 0) FIELDCOST_TRY(store.PutNumber(kLastDeletionWeek, now));
      return store::ExpiryReport();
    }
    if (now > last + kMaxWeeksBetweenDeletions) {
      return Fail(ErrorCode::kUnavailable,
                  "nothing is deleted: it is week {} by the clock, but was week {} before; if the "
                  "clock is right, run `fieldcost-aggregator expire` once",
                  now, last);
    }
  }
  const store::RetentionBounds bounds = store::BoundsOf(now, weeks);
  FIELDCOST_ASSIGN(store::ExpiryReport report, store.Expire(bounds.first_week, bounds.first_epoch));
  const std::uint32_t epoch = now / store::kWeeksPerEpoch;
  FIELDCOST_ASSIGN(
      const std::uint64_t stranded,
      store.DropHeldBefore(wire::Epoch(epoch - std::min(epoch, store::kEpochsAround))));
  report.held_batches += stranded;
  FIELDCOST_ASSIGN(
      report.kept_batches,
      store.ForgetBatchesBefore(wire::Epoch(epoch - std::min(epoch, store::kEpochsAround))));
  FIELDCOST_TRY(store.PutNumber(kLastDeletionWeek, now));
  return report;
}

}  // namespace fieldcost::aggregator

#include "aggregator/store/recent_rows.h"

#include <string>
#include <utility>

#include "aggregator/store/store_limits.h"
#include "aggregator/store/store_row_codec.h"
#include "common/base/check.h"

namespace fieldcost::store {

void RecentRows::Add(const AcceptedRows& rows) {
  const MutexLock lock(mutex_);
  dirty_.Add(rows);
}

Status RecentRows::AddRecord(std::string_view record) {
  const MutexLock lock(mutex_);
  return dirty_.AddRecord(record);
}

bool RecentRows::IsDue() const {
  return dirty_.row_count() >= options_.checkpoint_rows ||
         dirty_.memory_bytes() >= options_.checkpoint_bytes;
}

std::size_t RecentRows::MemoryBytes() const {
  return dirty_.memory_bytes() + (frozen_.rows ? frozen_.rows->memory_bytes() : 0);
}

void RecentRows::AwaitMemory() {
  const MutexLock lock(mutex_);
  changed_.Wait(mutex_, [this]() FIELDCOST_REQUIRES(mutex_) {
    return failure_.has_happened() || options_.checkpoint_seconds == 0 ||
           MemoryBytes() < kDirtyOverdraft * options_.checkpoint_bytes;
  });
}

bool RecentRows::IsCheckpointDue() const {
  const MutexLock lock(mutex_);
  return IsDue();
}

void RecentRows::WakeIfDue() {
  const MutexLock lock(mutex_);
  if (IsDue()) changed_.NotifyAll();
}

bool RecentRows::AwaitCheckpoint() {
  const MutexLock lock(mutex_);
  changed_.WaitFor(mutex_, std::chrono::seconds(options_.checkpoint_seconds),
                   [this]() FIELDCOST_REQUIRES(mutex_) {
                     return stopping_ || failure_.has_happened() || IsDue();
                   });
  return !stopping_ && !failure_.has_happened();
}

void RecentRows::Stop() {
  const MutexLock lock(mutex_);
  stopping_ = true;
  changed_.NotifyAll();
}

void RecentRows::WakeAll() {
  const MutexLock lock(mutex_);
  changed_.NotifyAll();
}

RecentRows::Frozen RecentRows::SetAside() {
  const MutexLock lock(mutex_);
  FIELDCOST_CHECK(frozen_.rows == nullptr || failure_.has_happened());
  if (failure_.has_happened() || dirty_.empty()) return {};
  frozen_.rows = std::make_shared<const DirtyTable>(std::exchange(dirty_, DirtyTable()));
  frozen_.stored = database_.Freeze();
  return frozen_;
}

void RecentRows::DropFrozen() {
  const MutexLock lock(mutex_);
  frozen_ = Frozen();
  changed_.NotifyAll();
}

Status RecentRows::Read(std::string_view key, CompactRow& sums, bool& found) const {
  const MutexLock lock(mutex_);
  FIELDCOST_ASSIGN(const auto stored, database_.Get(Table::kRows, key, frozen_.stored.get()));
  sums.Clear();
  if (stored) FIELDCOST_TRY(DecodeRowValue(*stored, sums));
  found = stored.has_value();
  if (frozen_.rows) FIELDCOST_TRY(frozen_.rows->Apply(key, sums, found));
  FIELDCOST_TRY(dirty_.Apply(key, sums, found));
  found = found && !sums.buckets.empty();
  return {};
}

Status RecentRows::ForEachNewest(const Visitor& visit) const {
  const MutexLock lock(mutex_);
  FIELDCOST_CHECK(frozen_.rows == nullptr);
  CompactRow row;
  const auto visit_newest = [&](std::string_view key) FIELDCOST_REQUIRES(mutex_) -> Status {
    bool found = false;
    FIELDCOST_TRY(dirty_.Apply(key, row, found));
    return row.buckets.empty() ? Status() : visit(key, row);
  };
  const auto visit_stored = [&](std::string_view key, std::string_view value)
                                FIELDCOST_REQUIRES(mutex_) -> Status {
    FIELDCOST_TRY(DecodeRowValue(value, row));
    return visit_newest(key);
  };
  FIELDCOST_TRY(database_.ForEach(Table::kRows, "", nullptr, visit_stored));
  Database::Lookup stored(database_, Table::kRows, nullptr);
  const auto visit_new = [&](const std::string& key, const CompactRow*, const CompactRow*)
                             FIELDCOST_REQUIRES(mutex_) -> Status {
    FIELDCOST_ASSIGN(const auto there, stored.Find(key));
    if (there) return {};
    row.Clear();
    return visit_newest(key);
  };
  return dirty_.ForEach(visit_new);
}

Totals RecentRows::dirty_totals() const {
  const MutexLock lock(mutex_);
  return dirty_.totals();
}

std::size_t RecentRows::row_count() const {
  const MutexLock lock(mutex_);
  return dirty_.row_count() + (frozen_.rows ? frozen_.rows->row_count() : 0);
}

std::size_t RecentRows::memory_bytes() const {
  const MutexLock lock(mutex_);
  return MemoryBytes();
}

}  // namespace fieldcost::store

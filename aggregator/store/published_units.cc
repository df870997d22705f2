#include "aggregator/store/published_units.h"

#include <utility>

#include "aggregator/store/published_codec.h"
#include "aggregator/store/store_limits.h"
#include "aggregator/store/store_parts.h"
#include "aggregator/store/store_row_codec.h"
#include "common/wire/epoch.h"

namespace fieldcost::store {
namespace {

// All records and marks of quarters before this week have been removed.
constexpr char kUnitsExpiredKey[] = "units_expired";

// Removes the marks that a moment has.
Status DeleteMarks(const Database& database, const PublishedUnits::Moment& moment,
                   Database::SortedSet& changes) {
  const auto look = [&](std::string_view key, std::string_view) -> Status {
    FIELDCOST_ASSIGN(const PublishedEntryKey parts, SplitEntryKey(key));
    if (parts.withdrawal.value_or(0) > moment.number) return {};
    return changes.Delete(Table::kPublished, key);
  };
  return database.ForEach(Table::kPublished, std::string(1, kMarkPrefix), moment.view, look);
}

}  // namespace

Status PublishedUnits::Load() {
  Database::Cursor cursor(database_, Table::kPublished, nullptr, std::string(1, kUnitPrefix),
                          std::string(1, kUnitPrefix + 1));
  FIELDCOST_ASSIGN(const bool has_one, cursor.Next());
  has_records_ = has_one;
  return {};
}

Result<std::vector<UnitWeeks>> PublishedUnits::UnitsToMark(std::string_view accepted_rows) const {
  std::vector<UnitWeeks> units;
  const bool all = in_progress_;
  if (!all && !has_records_) return units;
  std::map<std::string, std::uint16_t> weeks_of;
  FIELDCOST_TRY(ForEachAcceptedRow(accepted_rows, [&](std::string_view key, const CompactRow&) {
    weeks_of[UnitKeyOfRow(key)] |= WeekBitOfRow(key);
  }));
  for (const auto& [unit_key, weeks] : weeks_of) {
    if (!all) {
      FIELDCOST_ASSIGN(const auto record, database_.Get(Table::kPublished, UnitEntryKey(unit_key)));
      if (!record) continue;
    }
    units.push_back({.unit_key = unit_key, .weeks = weeks});
  }
  return units;
}

Status PublishedUnits::Begin() {
  if (!in_progress_.exchange(true)) return {};
  return Fail(ErrorCode::kUnavailable, "another publication is in progress");
}

Result<bool> PublishedUnits::MustSettle(const Database::View* view) const {
  FIELDCOST_ASSIGN(const auto restored, database_.Get(Table::kMeta, kUnsettledKey, view));
  return restored.has_value();
}

Status PublishedUnits::Write(const Moment& moment, std::span<Database::SortedSet* const> parts,
                             const std::map<std::string, std::uint64_t>& numbers) {
  Database::SortedSet rest(database_);
  FIELDCOST_TRY(DeleteMarks(database_, moment, rest));
  std::map<std::string, std::uint64_t> meta = {{kPublishedNumberKey, moment.number}};
  for (const auto& [name, value] : numbers) meta[NamedNumberKey(name)] = value;
  std::vector<Database::SortedSet*> sets(parts.begin(), parts.end());
  sets.push_back(&rest);
  Status written;
  {
    const MutexLock lock(mutex_);
    // Expire() may have removed records meanwhile that this publication writes again.
    FIELDCOST_ASSIGN(const std::uint64_t expired, ReadMetaNumber(database_, kUnitsExpiredKey));
    const std::uint32_t bound = wire::FirstWeekOfQuarter(moment.first_week);
    if (expired > bound) meta[kUnitsExpiredKey] = bound;
    for (const auto& [key, value] : meta) {
      FIELDCOST_TRY(rest.Put(Table::kMeta, key, NumberKey(value)));
    }
    static_assert(std::string_view(kUnsettledKey) > kUnitsExpiredKey);
    FIELDCOST_TRY(rest.Delete(Table::kMeta, kUnsettledKey));
    has_records_ = true;
    // Otherwise writers would wait while the engine flushes before it adopts the files.
    written = database_.Flush();
    if (written) written = database_.Adopt(sets);
  }
  return written ? written : failure_.Record(written.error());
}

Status PublishedUnits::Expire(std::uint32_t first_week) {
  const MutexLock lock(mutex_);
  const std::uint32_t bound = wire::FirstWeekOfQuarter(first_week);
  FIELDCOST_ASSIGN(const std::uint64_t done, ReadMetaNumber(database_, kUnitsExpiredKey));
  if (done >= bound) return {};
  std::string next;
  do {
    Database::WriteSet changes(database_);
    const auto remove = [&](std::string_view key, std::string_view) -> Status {
      FIELDCOST_ASSIGN(const PublishedEntryKey parts, SplitEntryKey(key));
      if (parts.first_week < bound) changes.Delete(Table::kPublished, key);
      return {};
    };
    FIELDCOST_ASSIGN(next, database_.ForSome(Table::kPublished, next, kExpiryStepEntries, remove));
    if (next.empty()) changes.Put(Table::kMeta, kUnitsExpiredKey, NumberKey(bound));
    FIELDCOST_TRY(database_.Write(changes));
  } while (!next.empty());
  return {};
}

}  // namespace fieldcost::store

#include "tests/aggregator/store/publish_all.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/wire/epoch.h"

namespace fieldcost::store {
namespace {

constexpr std::size_t kCutsBeforeMerge = 4;

// The rows of a unit.
struct UnitRows {
  CompactRow sums;
  std::map<stats::HardwareClass, CompactRow> classes;
  std::uint16_t weeks = 0;
};

Result<std::map<PublishedKey, UnitRows>> RowsOf(const Store::Snapshot& snapshot) {
  std::map<PublishedKey, UnitRows> units;
  const auto add = [&](const stats::RowKey& key, const CompactRow& row) -> Status {
    if (key.week < snapshot.first_week()) return {};
    UnitRows& unit = units[UnitKeyOf(key)];
    unit.sums.Add(row);
    unit.classes[key.hardware].Add(row);
    unit.weeks = static_cast<std::uint16_t>(unit.weeks | 1U << key.week % kWeeksOfUnit);
    return {};
  };
  FIELDCOST_TRY(snapshot.ForEach(add));
  return units;
}

// `all` without the sums of these cuts or parts.
template <typename Parts>
Result<CompactRow> RestOf(CompactRow all, const Parts& parts) {
  for (const auto& part : parts) FIELDCOST_TRY(all.Subtract(part.sums));
  return all;
}

// Joins all cuts into one.
void Merge(PublishedUnit& unit) {
  const auto join = [](auto& parts) {
    auto joined = parts.front();
    for (auto next = parts.begin() + 1; next != parts.end(); ++next) {
      AddRanges(next->ranges, joined.ranges);
      joined.sums.Add(next->sums);
    }
    return joined;
  };
  PublishedCut all = join(unit.cuts);
  for (const PublishedCut& cut : unit.cuts) all.weeks |= cut.weeks;
  all.last_serial = unit.cuts.back().last_serial;
  unit.cuts = {std::move(all)};
  for (TrackedClass& tracked : unit.classes) {
    if (!tracked.parts.empty()) tracked.parts = {join(tracked.parts)};
  }
}

// Moves everything of the class that is in no part into one with these ranges.
Status AddPart(const stats::HardwareClass& hardware, const CompactRow& sums,
               const std::vector<CutRange>& ranges, PublishedUnit& unit) {
  auto place = std::ranges::lower_bound(unit.classes, hardware, {}, &TrackedClass::hardware);
  if (place == unit.classes.end() || place->hardware != hardware) {
    if (unit.classes.size() == kMaxTrackedClasses) return {};
    place = unit.classes.insert(place, {.hardware = hardware});
  }
  FIELDCOST_ASSIGN(CompactRow part, RestOf(sums, place->parts));
  place->seen = sums.scalars.contributions;
  if (part.scalars.contributions == 0) return {};
  place->parts.push_back({.ranges = ranges, .sums = std::move(part)});
  return {};
}

// Takes a cut of everything that is in no live one.
Status TakeCut(const UnitRows& rows, std::uint64_t number, PublishedUnit& unit) {
  FIELDCOST_ASSIGN(CompactRow cut, RestOf(rows.sums, unit.cuts));
  if (cut.scalars.contributions == 0) return {};
  CutRange range{.until_number = number, .until_s = static_cast<std::uint32_t>(number)};
  if (!unit.cuts.empty()) {
    range.after_number = unit.cuts.back().ranges.back().until_number;
    range.after_s = unit.cuts.back().ranges.back().until_s;
  }
  const std::uint32_t serial = unit.next_serial++;
  unit.seen = rows.sums.scalars.contributions;
  unit.cuts.push_back({.first_serial = serial,
                       .last_serial = serial,
                       .weeks = rows.weeks,
                       .ranges = {range},
                       .sums = std::move(cut)});
  for (const auto& [hardware, sums] : rows.classes) {
    FIELDCOST_TRY(AddPart(hardware, sums, {range}, unit));
  }
  if (unit.cuts.size() > kCutsBeforeMerge) Merge(unit);
  return {};
}

}  // namespace

PublishedKey UnitKeyOf(const stats::RowKey& row) {
  return {.api = row.api, .metric = row.metric, .first_week = wire::FirstWeekOfQuarter(row.week)};
}

PublishedUnit UnitOf(const CompactRow& sums, std::uint64_t number) {
  PublishedUnit unit;
  unit.next_serial = 2;
  unit.seen = sums.scalars.contributions;
  unit.cuts.push_back(
      {.first_serial = 1,
       .last_serial = 1,
       .weeks = 2,
       .ranges = {{.until_number = number, .until_s = static_cast<std::uint32_t>(number)}},
       .sums = sums});
  return unit;
}

std::map<PublishedKey, PublishedEntry> PublishedOf(Store& store) {
  std::map<PublishedKey, PublishedEntry> entries;
  const auto snapshot = store.TakeSnapshot();
  FIELDCOST_CHECK(snapshot.has_value());
  PublishedReader reader = snapshot->ReadPublished({});
  for (;;) {
    const auto entry = reader.Next();
    FIELDCOST_CHECK(entry.has_value());
    if (*entry == nullptr) return entries;
    FIELDCOST_CHECK(entries.empty() || entries.rbegin()->first < (*entry)->key);
    entries.emplace((*entry)->key, **entry);
  }
}

Status PutAll(PublishedUpdate& update) {
  const Store::Snapshot& snapshot = update.snapshot();
  FIELDCOST_ASSIGN(const auto rows, RowsOf(snapshot));
  std::map<PublishedKey, PublishedUnit> units;
  PublishedReader reader = snapshot.ReadPublished({});
  for (;;) {
    FIELDCOST_ASSIGN(const PublishedEntry* const entry, reader.Next());
    if (entry == nullptr) break;
    PublishedUnit& unit = units[entry->key];
    if (!entry->unit) continue;
    unit = *entry->unit;
    const bool closed = entry->key.first_week < snapshot.first_week();
    if (closed || !entry->marks.empty()) unit = {.next_serial = 1};
  }
  for (const auto& [key, unit_rows] : rows) {
    FIELDCOST_TRY(TakeCut(unit_rows, snapshot.sequence(), units[key]));
  }
  PublishedUpdate::Part& part = update.AddPart();
  for (const auto& [key, unit] : units) FIELDCOST_TRY(part.Put(key, unit));
  return {};
}

Status PublishAll(Store& store, std::uint64_t version) {
  FIELDCOST_ASSIGN(const std::unique_ptr<PublishedUpdate> update, store.BeginPublishedUpdate());
  FIELDCOST_TRY(PutAll(*update));
  return update->Commit({{"version", version}});
}

}  // namespace fieldcost::store

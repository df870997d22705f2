#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "aggregator/store/compact_row.h"
#include "common/base/result.h"
#include "common/stats/api_key.h"
#include "common/wire/epoch.h"

namespace fieldcost::store {

// The published part of a unit, that is of an API and metric in one quarter: the state of the rule
// of aggregator/publish/CUTS.md, which explains the terms. In short: a *cut* is an exact sum that
// was added to the published rows in one publication and does not change afterwards. A *part* is
// the same for one hardware class; it holds that class's share of one or more successive cuts.
// Cuts are numbered with *serials*, 1, 2, 3, ... within their unit.
//
// Plain values; not thread-safe.

inline constexpr unsigned kWeeksOfUnit = wire::kWeeksPerEpoch;
inline constexpr std::size_t kMaxLiveCuts = 32;  // of a unit
// Ranges of a unit, in live cuts and waiting; and of a class, in its parts.
inline constexpr std::size_t kMaxCutRanges = 64;
inline constexpr std::size_t kMaxTrackedClasses = 16;  // of a unit
inline constexpr std::size_t kMaxRecentCuts = 64;      // of a unit

// Records of the store, by number and by the time of the snapshots that separate them. A range
// begins after the snapshot of an earlier cut and ends with that of a later one.
struct CutRange {
  std::uint64_t after_number = 0;  // exclusive
  std::uint64_t until_number = 0;  // inclusive; greater than after_number
  std::uint32_t after_s = 0;       // in seconds since 1970, exclusive
  std::uint32_t until_s = 0;       // inclusive; at least after_s
  bool operator==(const CutRange&) const = default;
};

// A live cut, or several that were merged.
struct PublishedCut {
  // The serials of the first and the last cut in it. Live cuts have disjoint intervals.
  std::uint32_t first_serial = 0;  // at least 1
  std::uint32_t last_serial = 0;   // at least first_serial
  std::uint16_t weeks = 0;         // bit w: may contain rows of the quarter's week w; not zero
  std::vector<CutRange> ranges;    // at least one; ascending, disjoint, not adjacent
  CompactRow sums;                 // over all classes; has contributions, is not saturated
  bool operator==(const PublishedCut&) const = default;
};

// A class's share of successive cuts, or several shares that were merged: the class's records in
// these ranges.
struct ClassPart {
  std::vector<CutRange> ranges;  // at least one; as in PublishedCut, and within those of live cuts
  CompactRow sums;               // has contributions, is not saturated
  bool operator==(const ClassPart&) const = default;
};

// The newcomers of a class in a recent cut.
struct ClassNewcomers {
  std::uint32_t serial = 0;      // that of a recent cut
  std::uint32_t moved_with = 0;  // the cut with which they were published for the class; 0 = none
  std::uint64_t newcomers = 0;   // at least that many agents; 0 is possible
  bool operator==(const ClassNewcomers&) const = default;
};

// A class that the rule observes, since it has or may get a published row.
struct TrackedClass {
  stats::HardwareClass hardware;
  std::uint64_t seen = 0;  // contributions in the store at the last cut or settlement
  // The class lags: cuts from this serial on may hold shares of it that are in no part. 0 = none
  // does.
  std::uint32_t behind_from = 0;
  std::vector<ClassPart> parts;           // disjoint; ascending by the end of the last range
  std::vector<ClassNewcomers> newcomers;  // ascending by serial
  bool operator==(const TrackedClass&) const = default;
};

// A cut with counted newcomers. It may have been merged since.
struct RecentCut {
  std::uint32_t serial = 0;
  bool is_whole = false;     // it holds nothing but what the tracked classes' newcomers list
  std::uint64_t others = 0;  // at least that many newcomers of classes that are not tracked
  bool operator==(const RecentCut&) const = default;
};

struct PublishedUnit {
  std::uint32_t next_serial = 1;  // that of the next cut; at least 1
  std::uint64_t seen = 0;         // contributions in the store at the last cut or settlement
  bool has_untracked = false;     // so had classes that are not tracked
  std::array<std::uint64_t, kWeeksOfUnit> week_calls{};  // the store's calls per week at that time
  // Records and weeks that are in no live cut although the last cut was later: of removed cuts, and
  // (weeks only) of what a settlement found.
  std::uint16_t waiting_weeks = 0;    // bits as in PublishedCut
  std::vector<CutRange> waiting;      // ascending, disjoint, not adjacent
  std::vector<PublishedCut> cuts;     // the live ones; ascending by serial
  std::vector<TrackedClass> classes;  // strictly ascending by hardware
  std::vector<RecentCut> recent;      // strictly ascending by serial; empty if no class lags
  bool operator==(const PublishedUnit&) const = default;

  // Whether there is nothing to store: no cut was ever taken, and nothing was settled.
  bool IsEmpty() const { return *this == PublishedUnit{}; }
};

// Adds ranges that are disjoint from those of `to`. Both are ascending. Adjacent ones become one.
void AddRanges(const std::vector<CutRange>& ranges, std::vector<CutRange>& to);
// The records of all live cuts together; ascending, not adjacent.
std::vector<CutRange> LiveRanges(const PublishedUnit& unit);

// kCorrupt unless everything holds that is stated above, within the limits, and:
//   - every serial is below next_serial;
//   - the ranges of the live cuts and the waiting ones are disjoint and cover all records from
//     after_number = 0 and after_s = 0 up to the last cut, without gaps in numbers or seconds;
//   - an entry of ClassNewcomers has the serial of a recent cut, and moved_with is 0 or not below
//     that serial.
// Does not compare sums with each other or with the store.
Status Validate(const PublishedUnit& unit);

}  // namespace fieldcost::store

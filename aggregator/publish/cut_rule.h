#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "aggregator/publish/unit_sums.h"
#include "aggregator/store/published_unit.h"

namespace fieldcost::publish {

// The rule by which a unit's published sums change from one publication to the next, so that no
// combination of published values, of any publications, isolates fewer agents than the threshold.
// CUTS.md has the rule and its proof. All functions are pure.

// A class replaces a tracked one without a published row if it has this many times the
// contributions.
inline constexpr std::uint64_t kReplacingClassFactor = 2;

// A record of the unit was withdrawn since the last publication.
struct WithdrawalMark {
  std::optional<std::uint64_t> number;  // of the record; nullopt if unknown
  std::uint16_t weeks =
      0;  // of the quarter, bits as in store::PublishedCut; matters without number
};

// A publication, as seen by one unit.
struct UnitPublication {
  const UnitSums& in_store;                     // collected for the same state of the unit
  std::span<const WithdrawalMark> withdrawals;  // of this unit, before that moment
  unsigned expired_weeks = 0;   // the first weeks of the quarter; their rows may have been removed
  bool settles = false;         // the first publication after a restore
  std::uint64_t number = 0;     // the greatest number of a record in the store
  std::uint32_t now_s = 0;      // the time of the snapshot, in seconds since 1970
  std::uint64_t threshold = 0;  // at least 1
};

// Reasons for which no cut is taken although there are enough newcomers.
enum class CutObstacle : std::uint8_t {
  kNone,
  kUnsound,       // the new sums are impossible (IsSound())
  kNotContained,  // the store lacks something that was published, without a withdrawal
};

struct UnitChange {
  bool took_cut = false;
  std::size_t removed_cuts = 0;
  std::size_t moved_classes = 0;  // parts that were added
  CutObstacle obstacle = CutObstacle::kNone;
};

// Applies a publication to the unit's state: removes cuts, settles or takes a cut, merges cuts. If
// there is an obstacle, only the removals and merges. The published rows change only if cuts are
// removed or taken. REQUIRES: Validate() accepts the state; threshold and next serial are not zero.
UnitChange Advance(const UnitPublication& publication, store::PublishedUnit& unit);

}  // namespace fieldcost::publish

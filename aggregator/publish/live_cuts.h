#pragma once

#include <cstdint>
#include <vector>

#include "aggregator/store/compact_row.h"
#include "aggregator/store/published_unit.h"

namespace fieldcost::publish {

// The live cuts of a unit (CUTS.md): their sums and records, and how they are merged. All functions
// are pure.

// Cuts older than this are merged with the others of their period.
inline constexpr std::uint32_t kSeparateCutSeconds = 7 * 24 * 60 * 60;
inline constexpr std::uint32_t kWeeksPerPeriod = 4;

// The published sums of a unit: of all classes, and of a class.
store::CompactRow PublishedSums(const store::PublishedUnit& unit);
store::CompactRow PublishedSums(const store::TrackedClass& tracked);

// The period of a cut, in periods of kWeeksPerPeriod weeks since 1970: that of its publication.
std::uint32_t PeriodOf(const store::PublishedCut& cut);

// The records of the class that are published; others of the ranges are not of this class.
std::vector<store::CutRange> RangesOf(const store::TrackedClass& tracked);
// The last range of all cuts, also of removed ones; that before the first record if there is none.
store::CutRange LastRange(const store::PublishedUnit& unit);
// The records in `ranges` and not in `removed`. All are ascending and begin and end where cuts do.
std::vector<store::CutRange> Without(const std::vector<store::CutRange>& ranges,
                                     const std::vector<store::CutRange>& removed);
bool Overlap(const std::vector<store::CutRange>& a, const std::vector<store::CutRange>& b);

// Forgets the newcomers of earlier cuts, so that the flow of later parts counts later ones only.
void ForgetNewcomers(store::PublishedUnit& unit);

// Merges cuts that have become old, and older ones if there would be more cuts or ranges than a
// unit may have. This does not change what is published, except that a class that still has too
// many ranges loses its row.
void MergeCuts(std::uint32_t now_s, store::PublishedUnit& unit);

}  // namespace fieldcost::publish

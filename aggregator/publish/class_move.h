#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregator/store/published_unit.h"

namespace fieldcost::publish {

// Whether the unpublished shares of a tracked class may be published as a part, given everything
// that was published before: whether then every combination of published sums, each added or
// subtracted any number of times, still contains `threshold` agents or nothing. CUTS.md has the
// proof. The newest of the recent cuts is the one with which the part would be published.
//
// The graph of the proof has a node for the ground, one for each recent cut and one for each part.
// An edge is a class's share of a cut; its capacity is the number of newcomers. It leads from the
// cut to the part that contains the share, or to the ground if none does. The part may be published
// if the flow from it to the ground reaches the threshold, or if no edge connects it with the
// ground; then it is a difference of sums that were published before.
//
// Pure. Takes time proportional to the number of edges, rarely a multiple of it.
// REQUIRES: `class_index` is one of unit.classes; unit.recent is not empty.
bool MayMove(const store::PublishedUnit& unit, std::size_t class_index, std::uint64_t threshold);

}  // namespace fieldcost::publish

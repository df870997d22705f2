#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/probe/event_store.h"

namespace fieldcost::probe {

// Detects events that are not representative of the program, because something else delayed it.
// Pure functions.

enum class Why : std::uint8_t { kNot, kNotOver, kIncomplete, kSuspended, kOutlier, kByHand };

struct Judgement {
  Why why = Why::kNot;
  std::string reason;  // a sentence: "8.1 times the median of 20 such runs"; empty if kNot
  // Not set aside only because too many others would be, too: its group contains two kinds of runs.
  bool two_kinds = false;
  bool IsSetAside() const { return why != Why::kNot; }
};

// Returns one verdict per event. Incomplete, suspended and unfinished events are always set aside,
// unless a user has kept them. The others are compared in groups of equal label, program, build,
// tags and points_key, if a group has at least 8: with x = log2 of the total, an event is set aside
// if |x - median| > 5 max(1.4826 MAD, 0.05). If that applies to more than a fifth of a group, none
// is set aside: there are two kinds of runs. Events set aside by a user or always do not count in
// their group; those kept by a user do, and are never set aside. A mark's reason may be any text.
// README.md states the error rates.
std::vector<Judgement> Judge(std::span<const EventRow> events);

inline constexpr std::size_t kLeastToJudge = 8;

}  // namespace fieldcost::probe

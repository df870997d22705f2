#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/probe/event_store.h"

namespace fieldcost::probe {

// Events that say nothing about the program: something else held it up. Pure functions.

enum class Why : std::uint8_t { kNot, kNotOver, kIncomplete, kSuspended, kOutlier, kByHand };

struct Verdict {
  Why why = Why::kNot;
  std::string reason;  // a sentence: "8.1 times the median of 20 such runs"; empty if kNot
  // Would go, but so would too many others: its group holds two kinds of runs.
  bool two_kinds = false;
  bool IsSetAside() const { return why != Why::kNot; }
};

// One verdict an event. Incomplete, suspended and unfinished ones always go, unless somebody keeps
// them. The others are looked at in groups of equal label, program, build, tags and points_key;
// with x = log2 of the total, one goes if |x - median| > 5 max(1.4826 MAD, 0.05), where a group has
// 8 or more; if more than a fifth of a group would go, none does: there are two kinds of runs. What
// somebody set aside, and what always goes, is not of the group; what somebody keeps is, and never
// goes. A mark's reason may be any text. Measured (simulated, spread 0.1):
// see the table in README.md.
std::vector<Verdict> Judge(std::span<const EventRow> events);

inline constexpr std::size_t kLeastToJudge = 8;

}  // namespace fieldcost::probe

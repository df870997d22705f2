#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/probe/compare_events.h"
#include "common/probe/event_store.h"
#include "common/probe/set_aside.h"

namespace fieldcost::probe {

// Compares two selections of events group by group: an event is compared only with events of the
// same label, program and set of tags, since others differ for other reasons. Not thread-safe.

inline constexpr std::size_t kMostEventsOfSide = 2'000;  // per group; the newest of each run

// The common properties of a group's events. If both selections name tags (or programs), these are
// ignored: `tag:cold` and `tag:warm` are meant to be compared.
struct GroupKey {
  std::string label;
  std::string program;
  std::vector<std::string> tags;  // sorted
  auto operator<=>(const GroupKey&) const = default;
};

struct SideRow {
  EventRow row;
  bool is_set_aside = false;
};

struct GroupSide {
  std::vector<SideRow> rows;      // newest first
  std::vector<std::string> tags;  // named by the selection
  std::string program;            // named by the selection; empty: none
  std::string replaced_program;   // counts as `as_program`, and its own event's label, too;
  std::string as_program;         // empty: none does
  std::function<Result<Event>(const EventKey&)> load;  // an event with its hits
};

// The data of a side as a whole. Events without any remaining point belong to no group.
struct SideFacts {
  std::size_t runs = 0;
  std::size_t lost_runs = 0;  // runs that lost points
  std::uint64_t lost_hits = 0;
  std::size_t measured_runs = 0;  // runs whose wait for a CPU is known
  double wait_share = 0;  // mean of these: share of the time they could run; 0 if there are none
};

struct ComparedGroup {
  GroupKey key;
  std::size_t base_set_aside = 0;
  std::size_t new_set_aside = 0;
  std::size_t older = 0;  // beyond kMostEventsOfSide
  Comparison comparison;
};

struct LeftOutGroup {  // exists on one side only
  GroupKey key;
  bool is_of_base = false;
  std::size_t events = 0;
};

struct ComparedSides {
  std::vector<ComparedGroup> groups;  // by key; not empty
  std::vector<LeftOutGroup> left_out;
  SideFacts base;
  SideFacts changed;
  // The sides' programs waited for CPUs so differently that times cannot distinguish the builds: by
  // Welch's test at 1 % and 3 percentage points; with too few runs for a verdict, 10 points.
  bool loads_differ = false;
};

// kInvalidArgument, listing the groups, if no group is on both sides; errors of `load`.
Result<ComparedSides> CompareGroups(const GroupSide& base, const GroupSide& changed, double least);

SideFacts FactsOf(std::span<const SideRow> rows);

// "open (program editor, tags cold, disk)"; texts are not escaped.
std::string GroupText(const GroupKey& key);

// The overall verdict: the first of kSlower, kFaster, kNone that applies to any total, or else
// kTooLittle.
inference::Verdict WorstOf(const std::vector<ComparedGroup>& groups);

}  // namespace fieldcost::probe

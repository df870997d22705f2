#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/probe/compare.h"
#include "tools/cli/probe/events.h"

namespace fieldcost::cli {

// Two selections of events, label by label.

inline constexpr std::size_t kMostEventsOfSide = 2'000;  // of a label; the newest

struct ProbeGroup {
  std::vector<probe::Event> events;  // but those set aside
  std::size_t set_aside = 0;
  std::size_t older = 0;  // not looked at
};

struct ProbeSides {
  struct Label {
    ProbeGroup base;
    ProbeGroup changed;
  };
  std::map<std::string, Label> labels;
};

// Selections as texts; `db` stands for this machine's events where they name no file. `label`
// empty: all. kNotFound if a side has no event; kInvalidArgument if an event is on both.
Result<ProbeSides> LoadProbeSides(const std::string& base, const std::string& changed,
                                  const std::string& label, const std::string& db);

// All of the selection with their hits, oldest first.
Result<std::vector<probe::Event>> LoadEvents(const std::string& selection, const std::string& db);

struct ProbeComparison {
  std::string label;
  std::size_t base_set_aside = 0;
  std::size_t new_set_aside = 0;
  std::size_t older = 0;
  probe::Comparison comparison;
};
// Compares label by label, in the order of their names.
std::vector<ProbeComparison> CompareSides(const ProbeSides& sides, double least);

// The verdict on all of them: the first of kSlower, kFaster, kNone that holds for any; else
// kTooLittle.
probe::Change WorstOf(const std::vector<ProbeComparison>& comparisons);

}  // namespace fieldcost::cli

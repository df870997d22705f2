#pragma once

#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "common/probe/compare_events.h"
#include "tools/cli/probe/local_events.h"
#include "tools/cli/probe/sides.h"

namespace fieldcost::cli {

// Text output of probe point events. External text is escaped. Pure.

std::string TimeText(std::uint64_t unix_ns);  // "2026-11-21 03:10:12"
std::string TagsText(const std::vector<std::string>& tags);

// "40 points were lost in 1 of 10 runs; ..."
std::string LostPointsText(const probe::SideFacts& facts);

struct EventListText {
  std::size_t set_aside = 0;  // set aside and not listed
  std::size_t older = 0;      // not listed because of the limit
  probe::SideFacts facts{};   // of all selected events
};
std::string EventTable(const std::vector<JudgedEvent>& events, const EventListText& rest,
                       const draw::Style& style);

// An event with its steps as bars. `stacks`: with the stack of the point that ends each step.
std::string EventText(const JudgedEvent& judged, const probe::Event& event, bool stacks,
                      const draw::Style& style);

std::string ComparisonText(const probe::ComparedGroup& compared, const draw::Style& style);
// One line each about omitted events, lost points, and the machine's load.
std::string SidesText(const probe::ComparedSides& sides, bool alternated);
// The last line: the verdict. `least` is the allowed change.
std::string ComparisonVerdict(const std::vector<probe::ComparedGroup>& groups, double least,
                              bool is_gate);

// `facts` covers all selected runs.
std::string HistoryText(const std::string& label, const std::vector<probe::HistoryLine>& history,
                        const probe::SideFacts& facts, const draw::Style& style);

}  // namespace fieldcost::cli

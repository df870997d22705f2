#pragma once

#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "common/probe/compare.h"
#include "tools/cli/probe/events.h"
#include "tools/cli/probe/sides.h"

namespace fieldcost::cli {

// Events of probe points for people. Texts from outside are escaped. Pure.

std::string TimeText(std::uint64_t unix_ns);  // "2026-11-21 03:10:12"
std::string TagsText(const std::vector<std::string>& tags);

// "40 points were lost in 1 of 10 runs; ..."
std::string LostPointsText(const probe::SideFacts& facts);

struct EventListText {
  std::size_t set_aside = 0;  // that are not in the list
  std::size_t older = 0;      // beyond its limit
  probe::SideFacts facts{};   // of all that were selected
};
std::string EventTable(const std::vector<JudgedEvent>& events, const EventListText& rest,
                       const draw::Style& style);

// An event with its steps as bars; `stacks`: below each the stack of the point that ends it.
std::string EventText(const JudgedEvent& judged, const probe::Event& event, bool stacks,
                      const draw::Style& style);

std::string ComparisonText(const probe::ComparedGroup& compared, const draw::Style& style);
// What was left out, which points were lost, and how busy the machine was; a line each.
std::string SidesText(const probe::ComparedSides& sides, bool alternated);
// The last line: what it comes to. `least` is what is allowed.
std::string ComparisonVerdict(const std::vector<probe::ComparedGroup>& groups, double least,
                              bool is_gate);

// `facts` covers all selected runs.
std::string HistoryText(const std::string& label, const std::vector<probe::HistoryLine>& history,
                        const probe::SideFacts& facts, const draw::Style& style);

}  // namespace fieldcost::cli

#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "tools/analysis/lab_change.h"
#include "tools/analysis/lab_counts.h"

namespace fieldcost::report {

// The counts of runs, before and after, as text. Deterministic; everything is escaped.

// One or two sentences that name the most important change: calls, with a slower function that
// makes them; else time; else bytes. "No function takes significantly more or less." if there is no
// change. The newer table determines the callers of each function.
std::string LabDiffLead(const std::vector<analysis::LabChange>& times,
                        const analysis::LabCounts& counts, const wire::LabTable& after,
                        const draw::Style& style);

// A table of the changes, or with `all` of everything, with one line per API and metric; then how
// the tables were compared. If nothing has changed, only the latter.
std::string LabCountText(const analysis::LabCounts& counts, bool all, const draw::Style& style);

// The totals of an API's calls in a run: "62 calls per run, 1,024 B allocated, 4,096 B
// disk_written". Lines without newlines.
std::vector<std::string> TotalLines(std::span<const wire::LabTotal> totals,
                                    const draw::Style& style);

// "62", "60-65", "1,024 B".
std::string TotalRange(const wire::LabTotal& total, const draw::Style& style);

}  // namespace fieldcost::report

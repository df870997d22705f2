#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "common/base/result.h"
#include "common/stats/api_key.h"
#include "common/wire/lab_table.h"
#include "tools/analysis/coverage.h"
#include "tools/analysis/requirement.h"
#include "tools/analysis/summary.h"
#include "tools/cli/costs/source.h"
#include "tools/cli/terminal/output.h"

namespace fieldcost::cli {

// Output about lab tables shared by several commands, as text (through the pager if it is long),
// JSON or CSV.

// Selects lines of the table.
struct LabView {
  std::string library;  // glob over sonames; empty = all
  analysis::SortKey sort = analysis::SortKey::kTotal;
  std::uint64_t limit = 0;              // 0 = all
  bool limits_text_only = false;        // JSON and CSV have all lines
  std::set<std::string> left_out_apis;  // by `measure`, for JSON; untrusted
  // Of a measurement; nullptr = unknown. `names_uncalled`: the text lists uncalled functions.
  const analysis::Coverage* coverage = nullptr;
  bool names_uncalled = false;
  bool with_waiting = false;      // also functions whose work is to wait (tools/analysis/waiting.h)
  const Source* field = nullptr;  // a catalogue to compare with; nullptr = none
};
// Prints report::LabTableText() with its notes, LabJson() or report::LabCsv().
Status PrintLabTable(const wire::LabTable& table, const LabView& view, const Output& output);

struct LabDiffView {
  std::string api;  // glob over symbols, or names as users write them; empty = all
  // The time, or the counter, to compare; nullopt = wall_time and all counts.
  std::optional<stats::Metric> metric;
  bool all = false;  // also APIs without a significant change
};
// Returns the exit status: 1 if something costs more (LabChange::change, LabCount::decides), 2 if
// no API has enough runs in both, else 0.
Result<int> PrintLabDiff(const wire::LabTable& before, const wire::LabTable& after,
                         const LabDiffView& view, const Output& output);

// Prints which requirements the table meets, as text, JSON or CSV. Returns the exit status: 1 if
// one is violated, 2 if one is not measured, else 0.
Result<int> PrintRequirements(std::span<const analysis::Requirement> requirements,
                              const wire::LabTable& table, const analysis::LiveRuns& live,
                              const Output& output);

}  // namespace fieldcost::cli

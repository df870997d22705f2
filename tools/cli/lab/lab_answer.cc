#include "tools/cli/lab/lab_answer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/names/cxx_name.h"
#include "tools/analysis/check_field.h"
#include "tools/analysis/lab_change.h"
#include "tools/analysis/lab_cost.h"
#include "tools/analysis/waiting.h"
#include "tools/cli/costs/cost_answer.h"
#include "tools/cli/lab/lab_json.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/report/lab/count_text.h"
#include "tools/report/lab/coverage_text.h"
#include "tools/report/lab/lab_diff_text.h"
#include "tools/report/lab/requirement_text.h"
#include "tools/report/lab/table_text.h"

namespace fieldcost::cli {
namespace {

using analysis::LabChange;
using analysis::LabCost;

struct ChosenTable {
  std::vector<LabCost> costs;
  std::size_t found = 0;          // shown or not
  double whole_ns = 0;            // of all found
  std::set<std::string> waiting;  // symbols omitted because they only wait
};

ChosenTable Choose(const wire::LabTable& table, const LabView& view) {
  ChosenTable chosen;
  chosen.costs = analysis::LabCosts(table);
  std::erase_if(chosen.costs, [&](const LabCost& cost) {
    const stats::ApiKey& api = cost.summary.api;
    return !view.library.empty() && !GlobMatch(view.library, api.soname);
  });
  if (!view.with_waiting) {
    chosen.waiting = analysis::SetWaitingApart(
        chosen.costs, [](const LabCost& cost) -> const stats::ApiKey& { return cost.summary.api; });
  }
  analysis::Sort(chosen.costs, view.sort);
  chosen.found = chosen.costs.size();
  chosen.whole_ns = analysis::WholeNs(chosen.costs);
  if (view.limit != 0 && chosen.found > view.limit) chosen.costs.resize(view.limit);
  return chosen;
}

// Compares the times of each API with the catalogue's.
Status CompareWithField(const wire::LabTable& table, const Source& field,
                        std::vector<LabCost>& costs) {
  for (LabCost& cost : costs) {
    const stats::ApiKey& api = cost.summary.api;
    const auto row = std::find_if(table.rows.begin(), table.rows.end(), [&](const auto& one) {
      return one.key.metric == stats::Metric::kWallTime && one.key.api == api;
    });
    if (row == table.rows.end()) continue;
    FIELDCOST_ASSIGN(const std::vector<stats::StatRow> rows, field.Find(api.symbol, api.soname));
    cost.field = analysis::PenaltyOf(*row, analysis::ChooseField(rows, {}, row->key));
  }
  return {};
}

std::string TableText(const ChosenTable& chosen, const wire::LabTable& table,
                      const draw::Style& style) {
  if (chosen.costs.empty() && chosen.waiting.empty()) return "nothing was called\n";
  std::string text =
      chosen.costs.empty() ? "" : report::LabTableText(chosen.costs, chosen.whole_ns, style);
  if (chosen.costs.size() < chosen.found) {
    text += fmt::format("({} of {} APIs; more: --limit)\n", chosen.costs.size(), chosen.found);
  }
  text += draw::WrapLines(WaitingNote(chosen.waiting), style);
  return text + report::LabNote(table.parts, text, style);
}

// The changes in the requested APIs and metrics.
struct Changes {
  std::vector<LabChange> times;
  analysis::LabCounts counts;
  bool has_times = false;  // requested
  bool has_counts = false;
};

Changes ChangesBetween(const wire::LabTable& before, const wire::LabTable& after,
                       const LabDiffView& view) {
  const auto is_other = [&view](const auto& change) {
    return !view.api.empty() && !GlobMatch(view.api, change.symbol) &&
           !GlobMatch(view.api, names::ShortName(change.symbol));
  };
  Changes changes;
  changes.has_counts = !view.metric || analysis::IsCounted(*view.metric);
  changes.has_times = !view.metric || !changes.has_counts;
  if (changes.has_times) {
    changes.times =
        analysis::CompareLabTables(before, after, view.metric.value_or(stats::Metric::kWallTime));
    std::erase_if(changes.times, is_other);
  }
  if (changes.has_counts) {
    changes.counts = analysis::CompareLabCounts(before, after);
    std::erase_if(changes.counts.apis, [&](const analysis::LabCount& count) {
      return is_other(count) || (view.metric && count.metric != *view.metric);
    });
  }
  return changes;
}

int ExitStatusOf(const Changes& changes) {
  // Both lists are in this order.
  const auto& times = changes.times;
  const auto& counts = changes.counts.apis;
  if (!counts.empty() && counts.front().decides) return kIncrease;
  if (!times.empty() && times.front().change == inference::Verdict::kMore) return kIncrease;
  const auto is_known = [](const auto& list) {
    return !list.empty() && list.front().change != inference::Verdict::kTooLittleData;
  };
  const bool enough = changes.has_times ? is_known(times) : is_known(counts);
  return enough ? kNoIncrease : kTooLittleData;
}

std::string DiffText(const Changes& changes, const wire::LabTable& after, bool all,
                     const draw::Style& style) {
  std::string text = report::LabDiffLead(changes.times, changes.counts, after, style) + "\n";
  if (changes.has_counts) text += report::LabCountText(changes.counts, all, style);
  if (changes.has_counts && changes.has_times) text += "\n";
  if (changes.has_times) text += report::LabDiffText(changes.times, all, style);
  return text;
}

}  // namespace

Status PrintLabTable(const wire::LabTable& table, const LabView& view, const Output& output) {
  LabView wanted = view;
  if (view.limits_text_only && (output.json || output.csv)) wanted.limit = 0;
  ChosenTable chosen = Choose(table, wanted);
  if (view.field != nullptr) FIELDCOST_TRY(CompareWithField(table, *view.field, chosen.costs));
  if (output.json)
    return WriteStdout(LabJson(chosen.costs, table.parts, view.left_out_apis, view.coverage));
  if (output.csv) return WriteStdout(report::LabCsv(chosen.costs));
  std::string text = TableText(chosen, table, output.style);
  if (view.coverage != nullptr) {
    text += report::CoverageText(*view.coverage, view.names_uncalled, output.style);
  }
  return WritePaged(text, output);
}

Result<int> PrintLabDiff(const wire::LabTable& before, const wire::LabTable& after,
                         const LabDiffView& view, const Output& output) {
  const Changes changes = ChangesBetween(before, after, view);
  if (output.json) {
    const std::string lead = report::LabDiffLead(changes.times, changes.counts, after, {});
    FIELDCOST_TRY(WriteStdout(LabDiffJson({.lead = std::string(Trim(lead)),
                                           .times = changes.times,
                                           .counts = changes.counts,
                                           .before = before.parts,
                                           .after = after.parts})));
  } else if (output.csv) {
    FIELDCOST_TRY(WriteStdout(report::LabDiffCsv(changes.times, changes.counts)));
  } else {
    FIELDCOST_TRY(WritePaged(DiffText(changes, after, view.all, output.style), output));
  }
  return ExitStatusOf(changes);
}

Result<int> PrintRequirements(std::span<const analysis::Requirement> requirements,
                              const wire::LabTable& table, const analysis::LiveRuns& live,
                              const Output& output) {
  const std::vector<analysis::JudgedRequirement> judged =
      analysis::Judge(requirements, table, live);
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(RequirementJson(judged, table.parts)));
  } else if (output.csv) {
    FIELDCOST_TRY(WriteStdout(report::RequirementCsv(judged)));
  } else {
    FIELDCOST_TRY(WritePaged(report::RequirementText(judged, output.style), output));
  }
  switch (analysis::Overall(judged)) {
    case analysis::RequiredVerdict::kMet:
      return kNoIncrease;
    case analysis::RequiredVerdict::kViolated:
      return kIncrease;
    case analysis::RequiredVerdict::kNotMeasured:
      return kTooLittleData;
  }
  return kTooLittleData;
}

}  // namespace fieldcost::cli

#include "tools/cli/lab/answer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/stats/cxx_name.h"
#include "tools/analysis/check_field.h"
#include "tools/analysis/lab_change.h"
#include "tools/analysis/lab_cost.h"
#include "tools/analysis/waiting.h"
#include "tools/cli/cost_answer.h"
#include "tools/cli/lab/json.h"
#include "tools/cli/pager.h"
#include "tools/cli/terminal_io.h"
#include "tools/report/lab/diff_text.h"
#include "tools/report/lab/table_text.h"

namespace fieldcost::cli {
namespace {

using analysis::LabChange;
using analysis::LabCost;

struct Chosen {
  std::vector<LabCost> costs;
  std::size_t found = 0;          // shown or not
  std::set<std::string> waiting;  // symbols that were set apart
};

Chosen Choose(const wire::LabTable& table, const LabView& view) {
  Chosen chosen;
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
  if (view.limit != 0 && chosen.found > view.limit) chosen.costs.resize(view.limit);
  return chosen;
}

// The times of each with what the catalogue knows of them.
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

std::string TableText(const Chosen& chosen, const wire::LabTable& table, const draw::Style& style) {
  if (chosen.costs.empty() && chosen.waiting.empty()) return "nothing was called\n";
  std::string text = chosen.costs.empty() ? "" : report::LabTableText(chosen.costs, style);
  if (chosen.costs.size() < chosen.found) {
    text += fmt::format("({} of {} APIs; more: --limit)\n", chosen.costs.size(), chosen.found);
  }
  text += draw::WrapLines(WaitingNote(chosen.waiting), style);
  return text + report::LabNote(table.parts, style);
}

int ExitStatusOf(const std::vector<LabChange>& changes) {
  // They are in this order.
  if (changes.empty() || changes.front().change == analysis::Change::kTooLittleData) {
    return kTooLittleData;
  }
  return changes.front().change == analysis::Change::kMore ? kIncrease : kNoIncrease;
}

}  // namespace

Status PrintLabTable(const wire::LabTable& table, const LabView& view, const Output& output) {
  Chosen chosen = Choose(table, view);
  if (view.field != nullptr) FIELDCOST_TRY(CompareWithField(table, *view.field, chosen.costs));
  if (output.json) return WriteStdout(LabJson(chosen.costs, table.parts));
  if (output.csv) return WriteStdout(report::LabCsv(chosen.costs));
  return WritePaged(TableText(chosen, table, output.style), output);
}

Result<int> PrintLabDiff(const wire::LabTable& before, const wire::LabTable& after,
                         const LabDiffView& view, const Output& output) {
  std::vector<LabChange> changes = analysis::CompareLabTables(before, after, view.metric);
  std::erase_if(changes, [&view](const LabChange& change) {
    return !view.api.empty() && !GlobMatch(view.api, change.symbol) &&
           !GlobMatch(view.api, stats::ShortName(change.symbol));
  });
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(LabDiffJson(changes, before.parts, after.parts)));
  } else if (output.csv) {
    FIELDCOST_TRY(WriteStdout(report::LabDiffCsv(changes)));
  } else {
    FIELDCOST_TRY(WritePaged(report::LabDiffText(changes, view.all, output.style), output));
  }
  return ExitStatusOf(changes);
}

}  // namespace fieldcost::cli

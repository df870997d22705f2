#include "tools/cli/costs/cost_answer.h"

#include <fmt/format.h>

#include "common/draw/numbers.h"
#include "tools/analysis/summary.h"
#include "tools/cli/costs/catalogue_freshness.h"
#include "tools/cli/costs/cost_json.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/report/waiting_text.h"

namespace fieldcost::cli {

namespace {

std::string_view OwnSource(const Source& source) { return source.table() ? "table" : "local"; }

}  // namespace

report::Provenance ProvenanceOf(const Source& source) {
  const std::optional<catalog::Freshness>& freshness = source.freshness();
  if (!freshness) return {.source = std::string(OwnSource(source))};
  return {.source = "catalogue",
          .snapshot = freshness->snapshot_version,
          .published = draw::FormatTime(freshness->snapshot_published),
          .expired = freshness->Expired(SystemClock().Now()),
          .synthetic = freshness->synthetic,
          .incomplete = freshness->IsIncomplete()};
}

std::vector<analysis::CostSummary> AllVersions(std::span<const analysis::ApiCost> costs) {
  std::vector<analysis::CostSummary> all;
  for (const analysis::ApiCost& cost : costs) {
    all.insert(all.end(), cost.versions.begin(), cost.versions.end());
  }
  return all;
}

std::string WaitingNote(const std::set<std::string>& untrusted_symbols) {
  const std::string text = report::WaitingText(untrusted_symbols);
  return text.empty() ? "" : fmt::format("({}; --waiting lists them)\n", text);
}

Status PrintCosts(const std::vector<analysis::CostSummary>& summaries, const Source& source,
                  const Output& output, CsvKind csv, const std::function<std::string()>& text,
                  const std::optional<LocalRuns>& runs) {
  const std::optional<catalog::Freshness>& freshness = source.freshness();
  if (output.json) return WriteStdout(RowsJson(summaries, freshness, runs, OwnSource(source)));
  if (output.csv) {
    const report::Provenance provenance = ProvenanceOf(source);
    return WriteStdout(csv == CsvKind::kNumbers ? report::CostCsv(summaries, provenance)
                                                : report::BucketCsv(summaries, provenance));
  }
  std::string page = text();
  if (freshness) page += FreshnessText(*freshness, SystemClock().Now());
  return WritePaged(page, output);
}

}  // namespace fieldcost::cli

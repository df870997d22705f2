#include "tools/report/lab/diff_text.h"

#include <fmt/format.h>

#include <cmath>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "common/stats/cxx_name.h"
#include "tools/report/api_names.h"
#include "tools/report/csv.h"
#include "tools/report/figure_text.h"
#include "tools/report/version_diff.h"

namespace fieldcost::report {
namespace {

using analysis::Change;
using analysis::LabChange;

bool IsChange(Change change) { return change == Change::kMore || change == Change::kLess; }

struct Ratios {
  double low = 0;
  double high = 0;
};

// Of the confidence interval; nullopt if nothing could be compared.
std::optional<Ratios> IntervalOf(const LabChange& change) {
  if (change.test.strata == 0) return std::nullopt;
  const auto octaves = change.test.ConfidenceInterval(analysis::kConfidence);
  return Ratios{std::exp2(octaves.low), std::exp2(octaves.high)};
}

draw::TextLine Line(const LabChange& change, const draw::Style& style) {
  const auto p50 = [&](const stats::Figures& figures) {
    return QuantileText(figures, &stats::Quantiles::p50, change.metric, style);
  };
  const std::optional<Ratios> interval = IntervalOf(change);
  return {std::string(analysis::Name(change.change, change.metric)),
          draw::Shorten(stats::ShortName(change.symbol), kMaxApiWidth, style),
          EscapeControl(change.soname),
          interval ? fmt::format("{:.2f}x", change.ratio) : kUnknown,
          interval ? fmt::format("{:.2f}x..{:.2f}x", interval->low, interval->high) : kUnknown,
          fmt::format("{:.2f}", change.delta),
          interval ? ProbabilityText(change.q) : kUnknown,
          fmt::format("{}, {}", change.runs_before, change.runs_after),
          p50(change.before),
          p50(change.after)};
}

}  // namespace

std::string LabDiffText(const std::vector<LabChange>& changes, bool all, const draw::Style& style) {
  const std::vector<draw::TextColumn> columns = {{""},
                                                 {"API", false, 0, kLeastApiWidth},
                                                 {"LIBRARY", false, 6, kLeastLibraryWidth},
                                                 {"RATIO", true},
                                                 {"95 %", true, 3},
                                                 {"DELTA", true, 4},
                                                 {"Q", true, 1},
                                                 {"RUNS", true, 5},
                                                 {"P50 BEFORE", true, 2},
                                                 {"AFTER", true, 2}};
  std::vector<draw::TextLine> lines;
  std::size_t unchanged = 0;
  std::size_t too_little = 0;
  for (const LabChange& change : changes) {
    if (change.change == Change::kNone) ++unchanged;
    if (change.change == Change::kTooLittleData) ++too_little;
    if (all || IsChange(change.change)) lines.push_back(Line(change, style));
  }
  const std::string table = lines.empty() ? "" : draw::TextTable(columns, lines, style);
  const std::string summary = fmt::format(
      "{} changed, {} not shown to have, {} with fewer than {} runs on a side\n"
      "(runs are compared; a change is {:.2f}x at least, of those named {:.0f} % at most are "
      "none)\n",
      draw::FormatCount(changes.size() - unchanged - too_little), draw::FormatCount(unchanged),
      draw::FormatCount(too_little), analysis::kLeastLabRuns, analysis::kLeastLabRatio,
      100 * analysis::kMostFalseLabChanges);
  return table + draw::WrapLines(summary, style);
}

std::string LabDiffCsv(const std::vector<LabChange>& changes) {
  CsvWriter csv({"soname", "symbol", "symbol_version", "metric", "change", "ratio", "ratio_low",
                 "ratio_high", "cliffs_delta", "p", "q", "runs_before", "runs_after",
                 "timed_before", "timed_after", "mean_before", "mean_after", "p50_before",
                 "p50_after"});
  const auto p50 = [](const stats::Figures& figures) {
    return figures.quantiles ? std::optional(figures.quantiles->p50.estimate) : std::nullopt;
  };
  for (const LabChange& change : changes) {
    const std::optional<Ratios> interval = IntervalOf(change);
    csv.Text(change.soname)
        .Text(change.symbol)
        .Text(change.symbol_version)
        .Text(stats::Name(change.metric))
        .Text(analysis::Name(change.change, change.metric))
        .Known(interval ? std::optional(change.ratio) : std::nullopt)
        .Known(interval ? std::optional(interval->low) : std::nullopt)
        .Known(interval ? std::optional(interval->high) : std::nullopt)
        .Number(change.delta)
        .Number(change.test.p)
        .Number(change.q)
        .Count(change.runs_before)
        .Count(change.runs_after)
        .Known(TimedCalls(change.before))
        .Known(TimedCalls(change.after))
        .Known(change.before.mean)
        .Known(change.after.mean)
        .Known(p50(change.before))
        .Known(p50(change.after))
        .EndRecord();
  }
  return csv.text();
}

}  // namespace fieldcost::report

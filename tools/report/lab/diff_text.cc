#include "tools/report/lab/diff_text.h"

#include <fmt/format.h>

#include <cmath>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "common/stats/cxx_name.h"
#include "tools/report/api_names.h"
#include "tools/report/csv_columns.h"
#include "tools/report/figure_text.h"
#include "tools/report/version_diff.h"

namespace fieldcost::report {
namespace {

using analysis::Change;
using analysis::LabChange;

struct Ratios {
  double low = 0;
  double high = 0;
};

// The ends of the confidence interval; nullopt if nothing could be compared.
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
      "{} changed, {} without a significant change, {} with fewer than {} runs on a side\n"
      "(runs are compared; a change is at least {:.2f}x; at most {:.0f} % of those reported are "
      "false)\n",
      draw::FormatCount(changes.size() - unchanged - too_little), draw::FormatCount(unchanged),
      draw::FormatCount(too_little), analysis::kLeastLabRuns, analysis::kLeastLabRatio,
      100 * analysis::kMostFalseLabChanges);
  return table + draw::WrapLines(summary, style);
}

std::string LabDiffCsv(const std::vector<LabChange>& changes) {
  const CsvColumns<LabChange> columns = {
      {"soname", [](CsvWriter& csv, const LabChange& one) { csv.Text(one.soname); }},
      {"symbol", [](CsvWriter& csv, const LabChange& one) { csv.Text(one.symbol); }},
      {"symbol_version",
       [](CsvWriter& csv, const LabChange& one) { csv.Text(one.symbol_version); }},
      {"metric", [](CsvWriter& csv, const LabChange& one) { csv.Text(stats::Name(one.metric)); }},
      {"change", [](CsvWriter& csv,
                    const LabChange& one) { csv.Text(analysis::Name(one.change, one.metric)); }},
      {"ratio",
       [](CsvWriter& csv, const LabChange& one) {
         csv.Known(IntervalOf(one) ? std::optional(one.ratio) : std::nullopt);
       }},
      {"ratio_low",
       [](CsvWriter& csv, const LabChange& one) {
         const std::optional<Ratios> interval = IntervalOf(one);
         interval ? csv.Number(interval->low) : csv.Empty();
       }},
      {"ratio_high",
       [](CsvWriter& csv, const LabChange& one) {
         const std::optional<Ratios> interval = IntervalOf(one);
         interval ? csv.Number(interval->high) : csv.Empty();
       }},
      {"cliffs_delta", [](CsvWriter& csv, const LabChange& one) { csv.Number(one.delta); }},
      {"p", [](CsvWriter& csv, const LabChange& one) { csv.Number(one.test.p); }},
      {"q", [](CsvWriter& csv, const LabChange& one) { csv.Number(one.q); }},
      {"runs_before", [](CsvWriter& csv, const LabChange& one) { csv.Count(one.runs_before); }},
      {"runs_after", [](CsvWriter& csv, const LabChange& one) { csv.Count(one.runs_after); }},
      {"timed_before",
       [](CsvWriter& csv, const LabChange& one) { csv.Known(TimedCalls(one.before)); }},
      {"timed_after",
       [](CsvWriter& csv, const LabChange& one) { csv.Known(TimedCalls(one.after)); }},
      {"mean_before", [](CsvWriter& csv, const LabChange& one) { csv.Known(one.before.mean); }},
      {"mean_after", [](CsvWriter& csv, const LabChange& one) { csv.Known(one.after.mean); }},
      {"p50_before", [](CsvWriter& csv, const LabChange& one) { csv.Known(MedianOf(one.before)); }},
      {"p50_after", [](CsvWriter& csv, const LabChange& one) { csv.Known(MedianOf(one.after)); }},
  };
  return CsvOf(columns, changes);
}

}  // namespace fieldcost::report

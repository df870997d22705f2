#include "tools/report/local_diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "common/inference/anomaly.h"
#include "common/names/cxx_name.h"
#include "tools/report/api_names.h"
#include "tools/report/csv_columns.h"
#include "tools/report/figure_text.h"
#include "tools/report/version_diff.h"

namespace fieldcost::report {
namespace {

using analysis::LocalChange;
using inference::Verdict;

draw::TextLine Line(const LocalChange& change, const draw::Style& style) {
  const auto p50 = [&](const stats::Figures& figures) {
    return QuantileText(figures, &stats::Quantiles::p50, change.metric, style);
  };
  return {std::string(analysis::Words(change.change, change.metric)),
          draw::ShortenName(names::ShortName(change.symbol), kMaxApiWidth, style),
          change.ratio == 0 ? kUnknown : fmt::format("{:.2f}x", change.ratio),
          draw::FormatCount(change.timed_before),
          draw::FormatCount(change.timed_after),
          p50(change.before),
          p50(change.after)};
}

// The same sentence as for two versions; increases come first in `changes`.
std::string Sentence(const std::vector<LocalChange>& changes, const ChangeCounts& counts,
                     const draw::Style& style) {
  if (changes.empty()) return "no API was measured both before and after\n";
  const LocalChange& most = changes.front();
  std::string text = CountsText(counts, most.metric);
  if (IsChange(most.change)) {
    text += fmt::format("; most: {}, {}", EscapeControl(names::ShortName(most.symbol)),
                        ChangeWords(most.change, most.metric, most.ratio, style));
  }
  return text + ".\n";
}

}  // namespace

std::string LocalDiffText(const std::vector<LocalChange>& changes, bool all,
                          const draw::Style& style) {
  const std::vector<draw::TextColumn> columns = {{""},
                                                 {"API", false, 0, kLeastApiWidth, true},
                                                 {"MEAN", true},
                                                 {"N OLD", true, 1},
                                                 {"NEW", true, 1},
                                                 {"P50 OLD", true, 2},
                                                 {"NEW", true, 2}};
  std::vector<draw::TextLine> lines;
  const auto count = [&](Verdict wanted) {
    return static_cast<std::uint64_t>(
        std::ranges::count(changes, wanted, [](const LocalChange& one) { return one.change; }));
  };
  for (const LocalChange& change : changes) {
    if (all || IsChange(change.change)) lines.push_back(Line(change, style));
  }
  std::string text = Sentence(
      changes,
      {.more = count(Verdict::kMore), .less = count(Verdict::kLess), .all = changes.size()}, style);
  if (!lines.empty()) text += draw::TextTable(columns, lines, style);
  return text +
         fmt::format(
             "(no change shown: {}; fewer than {} calls on a side: {}; calls of one machine depend "
             "on each other, so no probability is given: repeat the runs)\n",
             draw::FormatCount(count(Verdict::kNone)), inference::kFieldThresholds.least_values,
             draw::FormatCount(count(Verdict::kTooLittleData)));
}

std::string LocalDiffCsv(const std::vector<LocalChange>& changes) {
  const CsvColumns<LocalChange> columns = {
      {"soname", [](CsvWriter& csv, const LocalChange& one) { csv.Text(one.soname); }},
      {"symbol", [](CsvWriter& csv, const LocalChange& one) { csv.Text(one.symbol); }},
      {"metric", [](CsvWriter& csv, const LocalChange& one) { csv.Text(stats::Name(one.metric)); }},
      {"change", [](CsvWriter& csv,
                    const LocalChange& one) { csv.Text(analysis::Words(one.change, one.metric)); }},
      {"ratio",
       [](CsvWriter& csv, const LocalChange& one) {
         csv.Known(one.ratio == 0 ? std::nullopt : std::optional(one.ratio));
       }},
      {"cliffs_delta", [](CsvWriter& csv, const LocalChange& one) { csv.Number(one.delta); }},
      {"timed_before", [](CsvWriter& csv, const LocalChange& one) { csv.Count(one.timed_before); }},
      {"timed_after", [](CsvWriter& csv, const LocalChange& one) { csv.Count(one.timed_after); }},
      {"mean_before", [](CsvWriter& csv, const LocalChange& one) { csv.Known(one.before.mean); }},
      {"mean_after", [](CsvWriter& csv, const LocalChange& one) { csv.Known(one.after.mean); }},
      {"p50_before",
       [](CsvWriter& csv, const LocalChange& one) { csv.Known(MedianOf(one.before)); }},
      {"p50_after", [](CsvWriter& csv, const LocalChange& one) { csv.Known(MedianOf(one.after)); }},
  };
  return CsvOf(columns, changes);
}

}  // namespace fieldcost::report

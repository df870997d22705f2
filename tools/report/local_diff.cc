#include "tools/report/local_diff.h"

#include <fmt/format.h>

#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "common/stats/anomaly.h"
#include "common/stats/cxx_name.h"
#include "tools/report/csv.h"
#include "tools/report/figure_text.h"

namespace fieldcost::report {
namespace {

using analysis::Change;
using analysis::LocalChange;

constexpr std::size_t kMaxApiWidth = 60;
constexpr std::size_t kLeastApiWidth = 16;

bool IsChange(Change change) { return change == Change::kMore || change == Change::kLess; }

draw::TextLine Line(const LocalChange& change, const draw::Style& style) {
  const auto p50 = [&](const stats::Figures& figures) {
    return QuantileText(figures, &stats::Quantiles::p50, change.metric, style);
  };
  return {std::string(analysis::Name(change.change, change.metric)),
          draw::Shorten(stats::ShortName(change.symbol), kMaxApiWidth, style),
          change.ratio == 0 ? kUnknown : fmt::format("{:.2f}x", change.ratio),
          draw::FormatCount(change.timed_before),
          draw::FormatCount(change.timed_after),
          p50(change.before),
          p50(change.after)};
}

}  // namespace

std::string LocalDiffText(const std::vector<LocalChange>& changes, bool all,
                          const draw::Style& style) {
  const std::vector<draw::TextColumn> columns = {{""},
                                                 {"API", false, 0, kLeastApiWidth},
                                                 {"MEAN", true},
                                                 {"N BEFORE", true, 1},
                                                 {"AFTER", true, 1},
                                                 {"P50 BEFORE", true, 2},
                                                 {"AFTER", true, 2}};
  std::vector<draw::TextLine> lines;
  std::size_t unchanged = 0;
  std::size_t too_little = 0;
  for (const LocalChange& change : changes) {
    if (change.change == Change::kNone) ++unchanged;
    if (change.change == Change::kTooLittleData) ++too_little;
    if (all || IsChange(change.change)) lines.push_back(Line(change, style));
  }
  std::string text = lines.empty() ? "" : draw::TextTable(columns, lines, style);
  text +=
      fmt::format("{} changed, {} not shown to have, {} with fewer than {} calls on a side\n",
                  draw::FormatCount(changes.size() - unchanged - too_little),
                  draw::FormatCount(unchanged), draw::FormatCount(too_little), stats::kLeastCalls);
  return text +
         "(calls of one machine depend on each other: no probability is given; repeat the runs)\n";
}

std::string LocalDiffCsv(const std::vector<LocalChange>& changes) {
  CsvWriter csv({"soname", "symbol", "metric", "change", "ratio", "cliffs_delta", "timed_before",
                 "timed_after", "mean_before", "mean_after", "p50_before", "p50_after"});
  const auto p50 = [](const stats::Figures& figures) {
    return figures.quantiles ? std::optional(figures.quantiles->p50.estimate) : std::nullopt;
  };
  for (const LocalChange& change : changes) {
    csv.Text(change.soname)
        .Text(change.symbol)
        .Text(stats::Name(change.metric))
        .Text(analysis::Name(change.change, change.metric))
        .Known(change.ratio == 0 ? std::nullopt : std::optional(change.ratio))
        .Number(change.delta)
        .Count(change.timed_before)
        .Count(change.timed_after)
        .Known(change.before.mean)
        .Known(change.after.mean)
        .Known(p50(change.before))
        .Known(p50(change.after))
        .EndRecord();
  }
  return csv.text();
}

}  // namespace fieldcost::report

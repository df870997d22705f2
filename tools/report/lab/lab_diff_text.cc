#include "tools/report/lab/lab_diff_text.h"

#include <fmt/format.h>

#include <cmath>

#include "common/base/text.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "common/names/cxx_name.h"
#include "tools/report/api_names.h"
#include "tools/report/csv_columns.h"
#include "tools/report/figure_text.h"
#include "tools/report/version_diff.h"

namespace fieldcost::report {
namespace {

using analysis::LabChange;
using inference::Verdict;

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
  return {std::string(analysis::Words(change.change, change.metric)),
          draw::ShortenName(names::ShortName(change.symbol), kMaxApiWidth, style),
          EscapeControl(change.soname),
          interval ? fmt::format("{:.2f}x", change.ratio) : kUnknown,
          interval ? fmt::format("{:.2f}x..{:.2f}x", interval->low, interval->high) : kUnknown,
          fmt::format("{:.2f}", change.delta),
          interval ? ProbabilityText(change.q) : kUnknown,
          fmt::format("{}, {}", change.runs_before, change.runs_after),
          p50(change.before),
          p50(change.after)};
}

using analysis::LabCount;

// Either a time or a count.
struct CsvRow {
  const LabChange* time = nullptr;
  const LabCount* count = nullptr;
  const analysis::LabCounts* counts = nullptr;
};

void AddNames(CsvColumns<CsvRow>& columns) {
  const auto add = [&](const char* name, std::string LabChange::*of_time,
                       std::string LabCount::*of_count) {
    columns.push_back({name, [=](CsvWriter& csv, const CsvRow& row) {
                         csv.Text(row.time != nullptr ? row.time->*of_time : row.count->*of_count);
                       }});
  };
  add("soname", &LabChange::soname, &LabCount::soname);
  add("symbol", &LabChange::symbol, &LabCount::symbol);
  add("symbol_version", &LabChange::symbol_version, &LabCount::symbol_version);
  columns.push_back({"metric", [](CsvWriter& csv, const CsvRow& row) {
                       csv.Text(
                           stats::Name(row.time != nullptr ? row.time->metric : row.count->metric));
                     }});
  columns.push_back({"change", [](CsvWriter& csv, const CsvRow& row) {
                       csv.Text(row.time != nullptr
                                    ? analysis::Words(row.time->change, row.time->metric)
                                    : analysis::Words(row.count->change, row.count->metric));
                     }});
}

void AddTimes(CsvColumns<CsvRow>& columns) {
  const auto add = [&](const char* name, std::optional<double> (*value)(const LabChange&)) {
    columns.push_back({name, [value](CsvWriter& csv, const CsvRow& row) {
                         csv.Known(row.time != nullptr ? value(*row.time) : std::nullopt);
                       }});
  };
  using Number = std::optional<double>;
  add("ratio", [](const LabChange& one) { return IntervalOf(one) ? Number(one.ratio) : Number(); });
  add("ratio_low", [](const LabChange& one) {
    const std::optional<Ratios> interval = IntervalOf(one);
    return interval ? Number(interval->low) : Number();
  });
  add("ratio_high", [](const LabChange& one) {
    const std::optional<Ratios> interval = IntervalOf(one);
    return interval ? Number(interval->high) : Number();
  });
  add("cliffs_delta", [](const LabChange& one) { return Number(one.delta); });
  add("p", [](const LabChange& one) { return Number(one.test.p); });
  add("q", [](const LabChange& one) { return Number(one.q); });
  columns.push_back({"runs_before", [](CsvWriter& csv, const CsvRow& row) {
                       csv.Count(row.time != nullptr ? row.time->runs_before
                                                     : row.counts->runs_before);
                     }});
  columns.push_back({"runs_after", [](CsvWriter& csv, const CsvRow& row) {
                       csv.Count(row.time != nullptr ? row.time->runs_after
                                                     : row.counts->runs_after);
                     }});
  const auto add_calls = [&](const char* name, stats::Figures LabChange::*side) {
    columns.push_back({name, [side](CsvWriter& csv, const CsvRow& row) {
                         row.time != nullptr ? csv.Known(TimedCalls(row.time->*side)) : csv.Empty();
                       }});
  };
  add_calls("timed_before", &LabChange::before);
  add_calls("timed_after", &LabChange::after);
  add("mean_before", [](const LabChange& one) { return one.before.mean; });
  add("mean_after", [](const LabChange& one) { return one.after.mean; });
  add("p50_before", [](const LabChange& one) { return MedianOf(one.before); });
  add("p50_after", [](const LabChange& one) { return MedianOf(one.after); });
}

void AddCounts(CsvColumns<CsvRow>& columns) {
  const auto add = [&](const char* name, wire::LabTotal LabCount::*side,
                       std::uint64_t wire::LabTotal::*end) {
    columns.push_back({name, [=](CsvWriter& csv, const CsvRow& row) {
                         const bool is_known =
                             row.count != nullptr && row.count->change != Verdict::kTooLittleData;
                         is_known ? csv.Count(row.count->*side.*end) : csv.Empty();
                       }});
  };
  add("least_before", &LabCount::before, &wire::LabTotal::least);
  add("most_before", &LabCount::before, &wire::LabTotal::most);
  add("least_after", &LabCount::after, &wire::LabTotal::least);
  add("most_after", &LabCount::after, &wire::LabTotal::most);
  columns.push_back({"regression", [](CsvWriter& csv, const CsvRow& row) {
                       csv.Flag(row.time != nullptr ? row.time->change == Verdict::kMore
                                                    : row.count->decides);
                     }});
}

CsvColumns<CsvRow> DiffCsvColumns() {
  CsvColumns<CsvRow> columns;
  AddNames(columns);
  AddTimes(columns);
  AddCounts(columns);
  return columns;
}

}  // namespace

std::string LabDiffText(const std::vector<LabChange>& changes, bool all, const draw::Style& style) {
  const std::vector<draw::TextColumn> columns = {{""},
                                                 {"API", false, 0, kLeastApiWidth, true},
                                                 LibraryColumn(6),
                                                 {"RATIO", true},
                                                 {"95 %", true, 3},
                                                 {"DELTA", true, 4},
                                                 {"Q", true, 1},
                                                 {"RUNS", true, 5},
                                                 {"P50 OLD", true, 2},
                                                 {"NEW", true, 2}};
  std::vector<draw::TextLine> lines;
  std::size_t unchanged = 0;
  std::size_t too_little = 0;
  for (const LabChange& change : changes) {
    if (change.change == Verdict::kNone) ++unchanged;
    if (change.change == Verdict::kTooLittleData) ++too_little;
    if (all || IsChange(change.change)) lines.push_back(Line(change, style));
  }
  const std::string table = lines.empty() ? "" : draw::TextTable(columns, lines, style);
  const std::string summary = fmt::format(
      "{} changed, {} without a significant change, {} with fewer than {} runs on a side\n"
      "(runs are compared; a change is at least {:.2f}x; at most {:.0f} % of those reported are "
      "false)\n",
      draw::FormatCount(changes.size() - unchanged - too_little), draw::FormatCount(unchanged),
      draw::FormatCount(too_little), inference::kLabThresholds.least_values,
      inference::kLabThresholds.least_ratio, 100 * inference::kLabThresholds.false_share);
  return table + draw::WrapLines(summary, style);
}

std::string LabDiffCsv(const std::vector<LabChange>& changes, const analysis::LabCounts& counts) {
  std::vector<CsvRow> rows;
  for (const LabChange& change : changes) rows.push_back({.time = &change, .counts = &counts});
  for (const LabCount& count : counts.apis) rows.push_back({.count = &count, .counts = &counts});
  return CsvOf(DiffCsvColumns(), rows);
}

}  // namespace fieldcost::report

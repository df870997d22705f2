#include "tools/report/lab/table_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "common/draw/text_table.h"
#include "common/shm/log2_bucket.h"
#include "tools/report/api_names.h"
#include "tools/report/csv_columns.h"
#include "tools/report/figure_text.h"
#include "tools/report/lab/count_text.h"
#include "tools/report/lab/lab_library_names.h"

namespace fieldcost::report {
namespace {

using analysis::LabCost;
using stats::Metric;

constexpr std::size_t kLeastShapeWidth = 12;

std::string SpreadHeading(const draw::Style& style) { return style.utf8 ? "RUN±" : "RUN+-"; }

std::optional<draw::UsedSlots> UsedByTimes(std::span<const LabCost> costs) {
  std::optional<draw::UsedSlots> range;
  for (const LabCost& cost : costs) {
    if (const auto* times = LabTimes(cost)) {
      range = draw::Join(range, draw::FindUsedSlots(LabBars(*times)));
    }
  }
  return range;
}

// "1.8 x (1.6 to 2.0)".
std::string PenaltyText(const std::optional<analysis::ContextPenalty>& field) {
  if (!field) return kUnknown;
  return fmt::format("{:.2g} x ({:.2g} to {:.2g})", field->ratio, field->low, field->high);
}

// The exact number of calls; if runs differ, the range. The counted runs may lack calls that timed
// runs have: then the range is from zero to the mean of the timed ones.
std::string CallsText(const LabCost& cost, const draw::Style& style) {
  const analysis::MetricSummary* times = LabTimes(cost);
  if (cost.calls == 0 && times != nullptr) {
    const std::uint64_t runs = std::max<std::uint64_t>(cost.runs, 1);
    const std::uint64_t mean = (times->sums.histogram.count() + runs - 1) / runs;
    return TotalRange({.metric = Metric::kCallsPerRun, .least = 0, .most = mean}, style);
  }
  const auto total = std::ranges::find(cost.totals, Metric::kCallsPerRun, &wire::LabTotal::metric);
  const bool varies = total != cost.totals.end() && total->least != total->most;
  return varies ? TotalRange(*total, style) : draw::FormatCount(cost.calls);
}

draw::TextLine LineOf(const LabCost& cost, double whole_ns, const ApiNames& names,
                      const LibraryNames& libraries, const std::optional<draw::UsedSlots>& range,
                      const draw::Style& style) {
  const analysis::MetricSummary* times = LabTimes(cost);
  const stats::Figures figures = times == nullptr ? stats::Figures{} : times->figures;
  const auto quantile = [&](stats::Quantile stats::Quantiles::*which) {
    return QuantileText(figures, which, Metric::kWallTime, style);
  };
  const std::optional<double> total = cost.TotalNs();
  return {total ? draw::TotalText(*total, style) : kUnknown,
          total && whole_ns > 0 ? draw::RoughShareText(*total / whole_ns) : kUnknown,
          names.Of(cost.summary.api, style),
          EscapeControl(libraries.Of(cost.summary.api)) + (cost.is_own ? " (own)" : ""),
          CallsText(cost, style),
          quantile(&stats::Quantiles::p50),
          quantile(&stats::Quantiles::p99),
          SpreadText(cost.run_spread),
          draw::FormatCost(cost.alloc_per_call, Metric::kAllocInclusive, style),
          PenaltyText(cost.field),
          stats::Sentence(cost.shape),
          times != nullptr && range
              ? draw::SpectrumOver(LabBars(*times), *range, kSpectrumWidth, style)
              : ""};
}

std::string TimeText(double ns, const draw::Style& style) {
  return draw::FormatCost(ns, Metric::kWallTime, style);
}

std::string StartUpText(const stats::StartUp& start_up, const draw::Style& style) {
  return fmt::format(
      "start-up: the first call in each of {} cost {} or more, the others {} (geometric "
      "mean)",
      Counted(start_up.processes, "process", "processes"),
      TimeText(static_cast<double>(start_up.cheapest_first_ns), style),
      TimeText(start_up.rest_ns, style));
}

std::string FitText(const stats::Growth& growth, const draw::Style& style) {
  return fmt::format(
      "fit: R{} {:.2f}, rises by {:.1f} octaves, explains {:.0f} % of what calls differ by",
      style.utf8 ? "²" : "^2", growth.r_squared, growth.rise_octaves, 100 * growth.explained);
}

std::string PointsText(const stats::Growth& growth, const draw::Style& style) {
  std::vector<draw::TextLine> lines;
  for (const stats::GrowthPoint& point : growth.points) {
    lines.push_back({InputText(point.slot, style), draw::FormatCount(point.calls),
                     OctavesText(point.octaves, style), OctavesText(point.fitted_octaves, style)});
  }
  const std::string heading =
      growth.argument == stats::ShapeArgument::kScanValue ? "VALUE" : "ARGUMENT";
  return draw::TextTable({{heading}, {"CALLS", true}, {"MEAN", true}, {"FIT", true}}, lines, style,
                         "    ");
}

std::string PeaksText(const stats::TwoPeaks& peaks, const draw::Style& style) {
  const auto part = [&](std::uint64_t calls, unsigned slot) {
    return fmt::format("{} in {}", Counted(calls, "call"),
                       draw::BucketText(slot, Metric::kWallTime, style));
  };
  return fmt::format("{}, {}; between them {}", part(peaks.cheap_calls, peaks.cheap_slot),
                     part(peaks.dear_calls, peaks.dear_slot),
                     part(peaks.valley_calls, peaks.valley_slot));
}

std::string SpreadLine(const stats::Spread& spread, const draw::Style& style) {
  return fmt::format("p10 {}, p50 {}, p90 {}, p99 {}", TimeText(spread.p10, style),
                     TimeText(spread.p50, style), TimeText(spread.p90, style),
                     TimeText(spread.p99, style));
}

void AddShapeColumns(CsvColumns<LabCost>& columns) {
  const auto add = [&](const char* name, void (*put)(CsvWriter&, const stats::ShapeResult&)) {
    columns.push_back({name, [put](CsvWriter& csv, const LabCost& cost) { put(csv, cost.shape); }});
  };
  add("shape", [](CsvWriter& csv, const auto& shape) { csv.Text(stats::Name(shape.shape)); });
  add("sentence", [](CsvWriter& csv, const auto& shape) { csv.Text(stats::Sentence(shape)); });
  add("start_up_ratio", [](CsvWriter& csv, const auto& shape) {
    shape.start_up ? csv.Number(shape.start_up->ratio) : csv.Empty();
  });
  add("allocates_at_first_only",
      [](CsvWriter& csv, const auto& shape) { csv.Flag(shape.allocates_at_first_only); });
  add("growth_argument", [](CsvWriter& csv, const auto& shape) {
    shape.growth ? csv.Count(shape.growth->argument) : csv.Empty();
  });
  add("growth_exponent", [](CsvWriter& csv, const auto& shape) {
    shape.growth ? csv.Number(shape.growth->exponent) : csv.Empty();
  });
  add("growth_r_squared", [](CsvWriter& csv, const auto& shape) {
    shape.growth ? csv.Number(shape.growth->r_squared) : csv.Empty();
  });
  add("growth_explained", [](CsvWriter& csv, const auto& shape) {
    shape.growth ? csv.Number(shape.growth->explained) : csv.Empty();
  });
  add("dear_share", [](CsvWriter& csv, const auto& shape) {
    shape.peaks ? csv.Number(shape.peaks->dear_share) : csv.Empty();
  });
}

CsvColumns<LabCost> TableCsvColumns() {
  CsvColumns<LabCost> columns;
  AddApiColumns<LabCost>(
      columns, [](const LabCost& cost) -> const stats::ApiKey& { return cost.summary.api; });
  const auto add = [&](const char* name, void (*put)(CsvWriter&, const LabCost&)) {
    columns.push_back({name, put});
  };
  add("own", [](CsvWriter& csv, const LabCost& cost) { csv.Flag(cost.is_own); });
  add("calls", [](CsvWriter& csv, const LabCost& cost) { csv.Count(cost.calls); });
  add("timed", [](CsvWriter& csv, const LabCost& cost) {
    const auto* times = LabTimes(cost);
    csv.Count(times == nullptr ? 0 : times->sums.histogram.timed());
  });
  add("runs", [](CsvWriter& csv, const LabCost& cost) { csv.Count(cost.runs); });
  add("total_ns", [](CsvWriter& csv, const LabCost& cost) { csv.Known(cost.TotalNs()); });
  add("mean", [](CsvWriter& csv, const LabCost& cost) {
    const auto* times = LabTimes(cost);
    csv.Known(times == nullptr ? std::nullopt : times->figures.mean);
  });
  AddQuantileColumns<LabCost>(columns, "", [](const LabCost& cost) -> const stats::Quantiles* {
    const auto* times = LabTimes(cost);
    return times != nullptr && times->figures.quantiles ? &*times->figures.quantiles : nullptr;
  });
  add("run_spread", [](CsvWriter& csv, const LabCost& cost) { csv.Known(cost.run_spread); });
  add("alloc_per_call",
      [](CsvWriter& csv, const LabCost& cost) { csv.Known(cost.alloc_per_call); });
  AddShapeColumns(columns);
  const auto add_field = [&](const char* name, double analysis::ContextPenalty::*which) {
    columns.push_back({name, [which](CsvWriter& csv, const LabCost& cost) {
                         cost.field ? csv.Number(*cost.field.*which) : csv.Empty();
                       }});
  };
  add_field("field_ratio", &analysis::ContextPenalty::ratio);
  add_field("field_ratio_low", &analysis::ContextPenalty::low);
  add_field("field_ratio_high", &analysis::ContextPenalty::high);
  return columns;
}

}  // namespace

const analysis::MetricSummary* LabTimes(const LabCost& cost) {
  return cost.summary.Find(Metric::kWallTime);
}

draw::Bars LabBars(const analysis::MetricSummary& times) {
  return draw::BarsOf(times.sums, times.figures, Metric::kWallTime);
}

std::string InputText(unsigned slot, const draw::Style& style) {
  const std::string least = draw::FormatCount(shm::SlotMin(slot));
  if (shm::SlotMin(slot) == shm::SlotMax(slot)) return least;
  return least + (style.utf8 ? "–" : "-") + draw::FormatCount(shm::SlotMax(slot));
}

std::string SpreadText(const std::optional<double>& run_spread) {
  if (!run_spread) return kUnknown;
  const double percent = 100 * *run_spread;
  return percent < 10 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

std::string LabTableText(std::span<const LabCost> costs, double whole_ns,
                         const draw::Style& style) {
  std::vector<draw::TextColumn> columns = {
      {"TOTAL", true},
      {"SHARE", true, 2},
      {"API", false, 0, kLeastApiWidth, true},
      LibraryColumn(5),
      {"CALLS", true, 1},
      {"P50", true},
      {"P99", true, 1},
      {SpreadHeading(style), true, 2},
      {"ALLOC/CALL", true, 3},
      {"FIELD/LAB", true},
      {.heading = "SHAPE", .least = kLeastShapeWidth, .keeps = draw::TextColumn::Keeps::kStart},
      {kSpectrum, false, 4}};
  const LibraryNames libraries(costs);
  ApiNames names;
  for (const LabCost& cost : costs) names.Add(cost.summary.api);
  const std::optional<draw::UsedSlots> range = UsedByTimes(costs);
  std::vector<draw::TextLine> lines;
  for (const LabCost& cost : costs)
    lines.push_back(LineOf(cost, whole_ns, names, libraries, range, style));
  const bool has_field = std::any_of(costs.begin(), costs.end(),
                                     [](const LabCost& cost) { return cost.field.has_value(); });
  if (!has_field) {
    constexpr std::ptrdiff_t kField = 9;
    columns.erase(columns.begin() + kField);
    for (draw::TextLine& line : lines) line.erase(line.begin() + kField);
  }
  std::string text = draw::TextTable(columns, lines, style);
  if (range && draw::HasColumn(text, kSpectrum))
    text += draw::SpectrumLegend(*range, kSpectrumWidth, Metric::kWallTime, style);
  return text;
}

std::string LabNote(std::span<const wire::LabPart> parts, std::string_view table,
                    const draw::Style& style) {
  std::uint64_t runs = 0;
  std::uint64_t left_out = 0;
  for (const wire::LabPart& part : parts) {
    runs += part.runs;
    left_out += part.left_out;
  }
  const std::string of = parts.size() == 1
                             ? "of " + draw::Shorten(parts.front().name, kMaxApiWidth, style)
                             : "of " + Counted(parts.size(), "measurement");
  const std::string thrown =
      left_out == 0 ? "" : fmt::format(", {} left out", draw::FormatCount(left_out));
  const std::string spread = SpreadHeading(style);
  const std::string about_spread = table.find(spread) == std::string_view::npos
                                       ? ""
                                       : "; " + spread + ": variation between runs";
  return draw::WrapLines(
      fmt::format("({} {}{}; TOTAL: calls of one run by their mean, callees included{}; below 50 "
                  "ns only differences are reliable)\n",
                  Counted(runs, "run"), of, thrown, about_spread),
      style);
}

std::string OctavesText(double octaves, const draw::Style& style) {
  return TimeText(std::exp2(octaves), style);
}

std::vector<std::string> EvidenceLines(const LabCost& cost, const draw::Style& style) {
  const stats::ShapeResult& shape = cost.shape;
  std::vector<std::string> lines;
  if (shape.shape == stats::Shape::kTooFewCalls) return lines;
  if (shape.start_up) lines.push_back(StartUpText(*shape.start_up, style));
  if (shape.growth) lines.push_back(FitText(*shape.growth, style));
  if (shape.peaks) lines.push_back(PeaksText(*shape.peaks, style));
  lines.push_back(SpreadLine(shape.spread, style));
  if (cost.run_spread) {
    lines.push_back(fmt::format("{} runs differ by {}", draw::FormatCount(cost.runs),
                                SpreadText(cost.run_spread)));
  }
  return lines;
}

std::string ShapeText(const LabCost& cost, const draw::Style& style) {
  std::string text = fmt::format("  shape: {}\n", stats::Sentence(cost.shape));
  for (const std::string& line : EvidenceLines(cost, style)) {
    text += fmt::format("    {}\n", line);
  }
  for (const std::string& line : TotalLines(cost.totals, style)) {
    text += fmt::format("    {}\n", line);
  }
  text = draw::WrapLines(text, style);
  return cost.shape.growth ? text + PointsText(*cost.shape.growth, style) : text;
}

std::string LabCsv(const std::vector<LabCost>& costs) { return CsvOf(TableCsvColumns(), costs); }

}  // namespace fieldcost::report

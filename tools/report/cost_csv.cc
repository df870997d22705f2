#include "tools/report/cost_csv.h"

#include "common/shm/log2_bucket.h"
#include "tools/analysis/summary.h"
#include "tools/report/csv.h"

namespace fieldcost::report {
namespace {

void AddApi(CsvWriter& csv, const stats::ApiKey& api) {
  csv.Text(stats::DisplayName(api)).Text(api.soname).Text(api.symbol).Text(api.package_version);
  csv.Text(api.build_id).Text(api.symbol_version);
}

void AddStratum(CsvWriter& csv, stats::Metric metric, const analysis::MetricSummary& summary) {
  const analysis::Strata& strata = summary.strata;
  std::string classes;
  for (const std::string& name : strata.classes) classes += (classes.empty() ? "" : "|") + name;
  csv.Text(stats::Name(metric)).Text(stats::Unit(metric));
  csv.Text(classes.empty() ? "all" : classes);
  csv.Text(strata.weeks ? analysis::FirstDay(strata.weeks->first) : "");
  csv.Text(strata.weeks ? analysis::FirstDay(strata.weeks->last) : "");
  csv.Count(summary.figures.contributions);
}

void AddEmpty(CsvWriter& csv, int fields) {
  for (int i = 0; i < fields; ++i) csv.Empty();
}

void AddQuantiles(CsvWriter& csv, const stats::Quantiles& quantiles) {
  for (const stats::Quantile& quantile : {quantiles.p50, quantiles.p95, quantiles.p99}) {
    csv.Number(quantile.estimate).Number(quantile.low).Number(quantile.high);
  }
}

}  // namespace

void AddFigures(CsvWriter& csv, const stats::Figures& figures) {
  figures.machines == 0 ? csv.Empty() : csv.Count(figures.machines);
  csv.Known(figures.calls);
  figures.sum ? csv.Sum(*figures.sum) : csv.Empty();
  csv.Known(figures.mean);
  figures.quantiles ? AddQuantiles(csv, *figures.quantiles) : AddEmpty(csv, 9);
  csv.Flag(figures.few_machines);
  if (!figures.all_calls) return AddEmpty(csv, 14);
  const stats::CallFigures& calls = *figures.all_calls;
  csv.Count(calls.totals.count).Sum(calls.totals.sum).Sum(calls.totals.sum_of_squares);
  csv.Number(calls.mean).Number(calls.standard_deviation);
  AddQuantiles(csv, calls.quantiles);
}

std::vector<std::string_view> FigureColumns() {
  return {"machines",
          "count",
          "sum",
          "mean",
          "p50",
          "p50_low",
          "p50_high",
          "p95",
          "p95_low",
          "p95_high",
          "p99",
          "p99_low",
          "p99_high",
          "few_machines",
          "all_calls_count",
          "all_calls_sum",
          "all_calls_sum_of_squares",
          "all_calls_mean",
          "all_calls_standard_deviation",
          "all_calls_p50",
          "all_calls_p50_low",
          "all_calls_p50_high",
          "all_calls_p95",
          "all_calls_p95_low",
          "all_calls_p95_high",
          "all_calls_p99",
          "all_calls_p99_low",
          "all_calls_p99_high"};
}

namespace {

void AddProvenance(CsvWriter& csv, const Provenance& provenance) {
  csv.Text(provenance.source);
  if (provenance.snapshot != 0) {
    csv.Count(provenance.snapshot);
  } else {
    csv.Empty();
  }
  csv.Text(provenance.published).Flag(provenance.expired).Flag(provenance.synthetic);
}

}  // namespace

std::string CostCsv(std::span<const analysis::CostSummary> summaries,
                    const Provenance& provenance) {
  std::vector<std::string_view> columns = {
      "api",    "library", "symbol",  "version",    "build_id",  "symbol_version",
      "metric", "unit",    "classes", "first_week", "last_week", "contributions"};
  const std::vector<std::string_view> figures = FigureColumns();
  columns.insert(columns.end(), figures.begin(), figures.end());
  columns.insert(columns.end(), {"source", "snapshot", "published", "expired", "synthetic"});
  CsvWriter csv(columns);
  for (const analysis::CostSummary& summary : summaries) {
    for (const auto& [metric, numbers] : summary.metrics) {
      AddApi(csv, summary.api);
      AddStratum(csv, metric, numbers);
      AddFigures(csv, numbers.figures);
      AddProvenance(csv, provenance);
      csv.EndRecord();
    }
  }
  return csv.text();
}

std::string BucketCsv(std::span<const analysis::CostSummary> summaries,
                      const Provenance& provenance) {
  CsvWriter csv({"api",
                 "library",
                 "symbol",
                 "version",
                 "build_id",
                 "symbol_version",
                 "metric",
                 "unit",
                 "classes",
                 "first_week",
                 "last_week",
                 "contributions",
                 "min",
                 "max",
                 "share",
                 "few_machines",
                 "count",
                 "sum",
                 "sum_of_squares",
                 "source",
                 "snapshot",
                 "published",
                 "expired",
                 "synthetic"});
  for (const analysis::CostSummary& summary : summaries) {
    for (const auto& [metric, numbers] : summary.metrics) {
      const stats::Figures& figures = numbers.figures;
      for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
        const stats::Bucket& bucket = numbers.sums.histogram.bucket(slot);
        if (bucket.count == 0) continue;
        AddApi(csv, summary.api);
        AddStratum(csv, metric, numbers);
        csv.Count(shm::SlotMin(slot)).Count(shm::SlotMax(slot));
        figures.shares ? csv.Number(stats::ShareOf(*figures.shares, slot)) : csv.Empty();
        csv.Flag(figures.few_machines);
        if (figures.all_calls) {
          csv.Count(bucket.count).Sum(bucket.sum).Sum(bucket.sum_of_squares);
        } else {
          AddEmpty(csv, 3);
        }
        AddProvenance(csv, provenance);
        csv.EndRecord();
      }
    }
  }
  return csv.text();
}

}  // namespace fieldcost::report

#include "tools/report/cost_csv.h"

#include "common/shm/log2_bucket.h"
#include "tools/report/csv.h"

namespace fieldcost::report {
namespace {

void AddApi(CsvWriter& csv, const stats::ApiKey& api) {
  csv.Text(stats::DisplayName(api)).Text(api.soname).Text(api.symbol).Text(api.package_version);
  csv.Text(api.build_id).Text(api.symbol_version);
}

void AddStratum(CsvWriter& csv, stats::Metric metric, const MetricSummary& summary) {
  const Strata& strata = summary.strata;
  std::string classes;
  for (const std::string& name : strata.classes) classes += (classes.empty() ? "" : "|") + name;
  csv.Text(stats::Name(metric)).Text(stats::Unit(metric));
  csv.Text(classes.empty() ? "all" : classes);
  csv.Text(strata.weeks ? FirstDay(strata.weeks->first) : "");
  csv.Text(strata.weeks ? FirstDay(strata.weeks->last) : "");
  csv.Count(summary.contributions);
}

void AddQuantile(CsvWriter& csv, const stats::Quantile& quantile) {
  csv.Number(quantile.estimate).Number(quantile.low).Number(quantile.high);
}

void AddMachines(CsvWriter& csv, const MetricSummary& summary) {
  csv.Count(summary.machines);
  const Quantiles& machine = summary.machine;
  for (const stats::Quantile& quantile : {machine.p50, machine.p95, machine.p99}) {
    if (summary.machines != 0) {
      AddQuantile(csv, quantile);
    } else {
      csv.Empty().Empty().Empty();
    }
  }
}

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

std::string CostCsv(std::span<const CostSummary> summaries, const Provenance& provenance) {
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
                 "count",
                 "sum",
                 "sum_of_squares",
                 "mean",
                 "standard_deviation",
                 "p50",
                 "p50_low",
                 "p50_high",
                 "p95",
                 "p95_low",
                 "p95_high",
                 "p99",
                 "p99_low",
                 "p99_high",
                 "machines",
                 "machine_p50",
                 "machine_p50_low",
                 "machine_p50_high",
                 "machine_p95",
                 "machine_p95_low",
                 "machine_p95_high",
                 "machine_p99",
                 "machine_p99_low",
                 "machine_p99_high",
                 "source",
                 "snapshot",
                 "published",
                 "expired",
                 "synthetic"});
  for (const CostSummary& summary : summaries) {
    for (const auto& [metric, numbers] : summary.metrics) {
      const stats::CostHistogram& histogram = numbers.histogram;
      AddApi(csv, summary.api);
      AddStratum(csv, metric, numbers);
      csv.Count(histogram.count()).Sum(histogram.sum()).Sum(histogram.sum_of_squares());
      csv.Number(histogram.Mean()).Number(histogram.StandardDeviation());
      AddQuantile(csv, numbers.p50);
      AddQuantile(csv, numbers.p95);
      AddQuantile(csv, numbers.p99);
      AddMachines(csv, numbers);
      AddProvenance(csv, provenance);
      csv.EndRecord();
    }
  }
  return csv.text();
}

std::string BucketCsv(std::span<const CostSummary> summaries, const Provenance& provenance) {
  CsvWriter csv(
      {"api",      "library",   "symbol",  "version",    "build_id",       "symbol_version",
       "metric",   "unit",      "classes", "first_week", "last_week",      "contributions",
       "min",      "max",       "count",   "sum",        "sum_of_squares", "source",
       "snapshot", "published", "expired", "synthetic"});
  for (const CostSummary& summary : summaries) {
    for (const auto& [metric, numbers] : summary.metrics) {
      for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
        const stats::Bucket& bucket = numbers.histogram.bucket(slot);
        if (bucket.count == 0) continue;
        AddApi(csv, summary.api);
        AddStratum(csv, metric, numbers);
        csv.Count(shm::SlotMin(slot)).Count(shm::SlotMax(slot)).Count(bucket.count);
        csv.Sum(bucket.sum).Sum(bucket.sum_of_squares);
        AddProvenance(csv, provenance);
        csv.EndRecord();
      }
    }
  }
  return csv.text();
}

}  // namespace fieldcost::report

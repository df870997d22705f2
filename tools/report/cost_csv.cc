#include "tools/report/cost_csv.h"

#include "common/shm/log2_bucket.h"

namespace fieldcost::report {
namespace {

struct MetricRecord {
  const analysis::CostSummary* api = nullptr;
  stats::Metric metric = stats::Metric::kWallTime;
  const analysis::MetricSummary* summary = nullptr;
};

std::string ClassesText(const analysis::Strata& strata) {
  std::string classes;
  for (const std::string& name : strata.classes) classes += (classes.empty() ? "" : "|") + name;
  return classes.empty() ? "all" : classes;
}

// api ... contributions.
template <typename Record>
CsvColumns<Record> KeyColumns() {
  CsvColumns<Record> columns;
  AddApiColumns<Record>(
      columns, [](const Record& record) -> const stats::ApiKey& { return record.api->api; });
  const auto add = [&](const char* name, void (*put)(CsvWriter&, const Record&)) {
    columns.push_back({name, put});
  };
  add("metric", [](CsvWriter& csv, const Record& r) { csv.Text(stats::Name(r.metric)); });
  add("unit", [](CsvWriter& csv, const Record& r) { csv.Text(stats::Unit(r.metric)); });
  add("classes", [](CsvWriter& csv, const Record& r) { csv.Text(ClassesText(r.summary->strata)); });
  add("first_week", [](CsvWriter& csv, const Record& r) {
    const auto& weeks = r.summary->strata.weeks;
    csv.Text(weeks ? analysis::FirstDay(weeks->first) : "");
  });
  add("last_week", [](CsvWriter& csv, const Record& r) {
    const auto& weeks = r.summary->strata.weeks;
    csv.Text(weeks ? analysis::FirstDay(weeks->last) : "");
  });
  add("contributions",
      [](CsvWriter& csv, const Record& r) { csv.Count(r.summary->figures.contributions); });
  return columns;
}

struct BucketRecord : MetricRecord {
  unsigned slot = 0;
  const stats::Bucket* bucket = nullptr;
};

CsvColumns<BucketRecord> BucketColumns() {
  using Record = BucketRecord;
  CsvColumns<Record> columns = KeyColumns<Record>();
  const auto add = [&](const char* name, void (*put)(CsvWriter&, const Record&)) {
    columns.push_back({name, put});
  };
  add("min", [](CsvWriter& csv, const Record& r) { csv.Count(shm::SlotMin(r.slot)); });
  add("max", [](CsvWriter& csv, const Record& r) { csv.Count(shm::SlotMax(r.slot)); });
  add("share", [](CsvWriter& csv, const Record& r) {
    const auto& shares = r.summary->figures.shares;
    shares ? csv.Number(stats::ShareOf(*shares, r.slot)) : csv.Empty();
  });
  add("few_machines",
      [](CsvWriter& csv, const Record& r) { csv.Flag(r.summary->figures.few_machines); });
  add("count", [](CsvWriter& csv, const Record& r) {
    r.summary->figures.all_calls ? csv.Count(r.bucket->count) : csv.Empty();
  });
  add("sum", [](CsvWriter& csv, const Record& r) {
    r.summary->figures.all_calls ? csv.Sum(r.bucket->sum) : csv.Empty();
  });
  add("sum_of_squares", [](CsvWriter& csv, const Record& r) {
    r.summary->figures.all_calls ? csv.Sum(r.bucket->sum_of_squares) : csv.Empty();
  });
  return columns;
}

std::vector<MetricRecord> MetricsOf(std::span<const analysis::CostSummary> summaries) {
  std::vector<MetricRecord> records;
  for (const analysis::CostSummary& summary : summaries) {
    for (const auto& [metric, numbers] : summary.metrics) {
      records.push_back({.api = &summary, .metric = metric, .summary = &numbers});
    }
  }
  return records;
}

}  // namespace

std::string CostCsv(std::span<const analysis::CostSummary> summaries,
                    const Provenance& provenance) {
  CsvColumns<MetricRecord> columns = KeyColumns<MetricRecord>();
  AddFigureColumns<MetricRecord>(
      columns, [](const MetricRecord& record) { return &record.summary->figures; });
  AddProvenanceColumns(columns, provenance);
  return CsvOf(columns, MetricsOf(summaries));
}

std::string BucketCsv(std::span<const analysis::CostSummary> summaries,
                      const Provenance& provenance) {
  std::vector<BucketRecord> records;
  for (const MetricRecord& record : MetricsOf(summaries)) {
    for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
      const stats::Bucket& bucket = record.summary->sums.histogram.bucket(slot);
      if (bucket.count != 0) records.push_back({record, slot, &bucket});
    }
  }
  CsvColumns<BucketRecord> columns = BucketColumns();
  AddProvenanceColumns(columns, provenance);
  return CsvOf(columns, records);
}

}  // namespace fieldcost::report

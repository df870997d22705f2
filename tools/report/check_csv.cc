#include "tools/report/check_csv.h"

namespace fieldcost::report {
namespace {

using analysis::CheckedApi;

std::string VersionsText(const CheckedApi& api) {
  std::string versions;
  for (const std::string& version : api.field.versions) {
    versions += (versions.empty() ? "" : "|") + version;
  }
  return versions;
}

// Adds the columns of the comparison: calls and machines, how much they differ, and the test
// results.
void AddComparisonColumns(CsvColumns<CheckedApi>& columns) {
  const auto add = [&](const char* name, void (*put)(CsvWriter&, const inference::Comparison&)) {
    columns.push_back(
        {name, [put](CsvWriter& csv, const CheckedApi& api) { put(csv, api.comparison); }});
  };
  using C = inference::Comparison;
  add("n", [](CsvWriter& csv, const C& c) { csv.Count(c.calls); });
  add("contributions", [](CsvWriter& csv, const C& c) { csv.Count(c.contributions); });
  add("machines", [](CsvWriter& csv, const C& c) { csv.Count(c.machines); });
  add("field_calls",
      [](CsvWriter& csv, const C& c) { c.few_machines ? csv.Empty() : csv.Count(c.field_calls); });
  add("few_machines", [](CsvWriter& csv, const C& c) { csv.Flag(c.few_machines); });
  add("ratio", [](CsvWriter& csv, const C& c) { csv.Number(c.ratio); });
  add("cliffs_delta", [](CsvWriter& csv, const C& c) { csv.Number(c.cliffs_delta); });
  add("octaves_above_typical_machine",
      [](CsvWriter& csv, const C& c) { csv.Number(c.machine_test.octaves_above); });
  add("p_calls", [](CsvWriter& csv, const C& c) { csv.Number(c.call_test.by_bucket.p); });
  add("p_calls_method",
      [](CsvWriter& csv, const C& c) { csv.Text(analysis::Name(c.call_test.by_bucket.method)); });
  add("p_ranks", [](CsvWriter& csv, const C& c) { csv.Number(c.call_test.by_rank.p); });
  add("p_machines", [](CsvWriter& csv, const C& c) { csv.Number(c.machine_test.p); });
  add("t", [](CsvWriter& csv, const C& c) { csv.Number(c.machine_test.t); });
  add("degrees_of_freedom",
      [](CsvWriter& csv, const C& c) { csv.Number(c.machine_test.degrees_of_freedom); });
  add("skewness", [](CsvWriter& csv, const C& c) { csv.Known(c.machine_test.skewness); });
  add("q", [](CsvWriter& csv, const C& c) { csv.Number(c.q); });
  add("seed", [](CsvWriter& csv, const C& c) { csv.Text(analysis::SeedText(c.call_test.seed)); });
  add("own_removed", [](CsvWriter& csv, const C& c) { csv.Flag(c.own_removed); });
}

}  // namespace

std::string CheckCsv(const analysis::CheckReport& report, const Provenance& provenance) {
  CsvColumns<CheckedApi> columns;
  AddApiColumns<CheckedApi>(
      columns, [](const CheckedApi& api) -> const stats::ApiKey& { return api.key.api; });
  columns.push_back({"metric", [metric = report.metric](CsvWriter& csv, const CheckedApi&) {
                       csv.Text(stats::Name(metric));
                     }});
  columns.push_back({"verdict", [](CsvWriter& csv, const CheckedApi& api) {
                       csv.Text(
                           inference::Words(api.comparison.verdict, inference::Wording::kField));
                     }});
  columns.push_back({"compared_with", [](CsvWriter& csv, const CheckedApi& api) {
                       csv.Text(Name(api.field.stratum));
                     }});
  columns.push_back({"field_versions",
                     [](CsvWriter& csv, const CheckedApi& api) { csv.Text(VersionsText(api)); }});
  AddComparisonColumns(columns);
  AddProvenanceColumns(columns, provenance);
  return CsvOf(columns, report.apis);
}

}  // namespace fieldcost::report

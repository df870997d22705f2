#include "tools/report/check_csv.h"

#include "tools/report/csv.h"

namespace fieldcost::report {

std::string CheckCsv(const analysis::CheckReport& report, const Provenance& provenance) {
  CsvWriter csv({"api",
                 "library",
                 "symbol",
                 "version",
                 "build_id",
                 "symbol_version",
                 "metric",
                 "verdict",
                 "compared_with",
                 "field_versions",
                 "n",
                 "contributions",
                 "machines",
                 "field_calls",
                 "few_machines",
                 "ratio",
                 "cliffs_delta",
                 "octaves_above_typical_machine",
                 "p_calls",
                 "p_calls_method",
                 "p_ranks",
                 "p_machines",
                 "t",
                 "degrees_of_freedom",
                 "skewness",
                 "q",
                 "seed",
                 "own_removed",
                 "snapshot",
                 "published",
                 "expired",
                 "synthetic"});
  for (const analysis::CheckedApi& api : report.apis) {
    const stats::ApiKey& key = api.key.api;
    const stats::Comparison& c = api.comparison;
    std::string versions;
    for (const std::string& version : api.field.versions) {
      versions += (versions.empty() ? "" : "|") + version;
    }
    csv.Text(stats::DisplayName(key)).Text(key.soname).Text(key.symbol).Text(key.package_version);
    csv.Text(key.build_id).Text(key.symbol_version).Text(stats::Name(report.metric));
    csv.Text(stats::Name(c.verdict)).Text(Name(api.field.stratum)).Text(versions);
    csv.Count(c.calls).Count(c.contributions).Count(c.machines);
    c.few_machines ? csv.Empty() : csv.Count(c.field_calls);
    csv.Flag(c.few_machines);
    csv.Number(c.ratio).Number(c.cliffs_delta).Number(c.machine_test.octaves_above);
    csv.Number(c.call_test.by_bucket.p).Text(analysis::Name(c.call_test.by_bucket.method));
    csv.Number(c.call_test.by_rank.p).Number(c.machine_test.p).Number(c.machine_test.t);
    csv.Number(c.machine_test.degrees_of_freedom);
    c.machine_test.skewness ? csv.Number(*c.machine_test.skewness) : csv.Empty();
    csv.Number(c.q);
    csv.Text(analysis::SeedText(c.call_test.seed)).Flag(c.own_removed).Count(provenance.snapshot);
    csv.Text(provenance.published).Flag(provenance.expired).Flag(provenance.synthetic);
    csv.EndRecord();
  }
  return csv.text();
}

}  // namespace fieldcost::report

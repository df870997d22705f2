#include "agent/lab/table.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "agent/harvest/module_version.h"
#include "agent/settings/hardware.h"
#include "agent/settings/public_modules.h"
#include "agent/spool/state_db.h"
#include "common/stats/contribution.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::lab {
namespace {

// Caches the package managers' answers, in memory since a disk may be full.
constexpr char kInMemory[] = ":memory:";

// The order of the APIs, and their packages.
struct Naming {
  std::vector<std::uint32_t> order;  // the table's: indices of Sums::apis()
  std::vector<std::uint32_t> place;  // the inverse
  std::vector<stats::ApiKey> keys;   // by index of Sums::apis()
  std::vector<bool> is_own;
};

bool IsPublic(const std::vector<wire::PolicyModule>& modules, const std::string& soname,
              const PackageOwner& owner) {
  return std::any_of(modules.begin(), modules.end(), [&](const wire::PolicyModule& module) {
    return module.soname == soname && !owner.package.empty() &&
           (module.package.empty() || module.package == owner.package);
  });
}

Result<Naming> NameApis(const Sums& sums, const settings::AgentConfig& config) {
  FIELDCOST_ASSIGN(spool::StateDb database, spool::StateDb::Open(kInMemory));
  harvest::ModuleVersions versions(database);
  const std::vector<wire::PolicyModule> modules = settings::PublicModulesOf(config);
  Naming naming;
  for (const ApiSums& api : sums.apis()) {
    FIELDCOST_ASSIGN(const PackageOwner owner, versions.Find(api.api, api.path));
    naming.keys.push_back(api.api);
    naming.keys.back().package_version = owner.version;
    naming.is_own.push_back(!IsPublic(modules, api.api.soname, owner));
  }
  naming.order.resize(sums.apis().size());
  std::iota(naming.order.begin(), naming.order.end(), 0U);
  std::sort(naming.order.begin(), naming.order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return naming.keys[a] < naming.keys[b]; });
  naming.place.resize(naming.order.size());
  for (std::uint32_t i = 0; i < naming.order.size(); ++i) naming.place[naming.order[i]] = i;
  return naming;
}

wire::LabApi ApiOf(const ApiSums& sums, const RunTotals& totals, const stats::ApiKey& key,
                   bool is_own) {
  const bool knows_bytes = (sums.not_measured & shm::kAllocInLoader) == 0;
  wire::LabApi api{.api = key,
                   .is_own = is_own,
                   .calls = sums.calls,
                   .log_cost = sums.times.log_time,
                   .arguments = {},
                   .first_call_bytes = knows_bytes ? sums.first_call_bytes : 0,
                   .other_bytes = knows_bytes ? sums.other_bytes : 0,
                   .totals = {}};
  for (const auto& [metric, total] : totals) {
    api.totals.push_back({.metric = metric, .least = total.least, .most = total.most});
  }
  for (const auto& [argument, inputs] : sums.times.by_argument) {
    api.arguments.push_back({.number = argument + 1, .sums = inputs});
  }
  return api;
}

// Adds the rows of one API, in ascending order of metric.
void AddRows(const ApiSums& sums, const stats::ApiKey& key, const stats::HardwareClass& hardware,
             std::vector<stats::StatRow>& rows) {
  const shm::MetricSet none = shm::MetricsNotMeasured(sums.not_measured);
  const auto add = [&](stats::Metric metric, const stats::CostHistogram& histogram,
                       const stats::ContributionScalars& scalars) {
    if (histogram.empty() || (none & shm::BitOf(metric)) != 0) return;
    rows.push_back({.key = {.api = key, .metric = metric, .hardware = hardware, .week = 0},
                    .histogram = histogram,
                    .scalars = scalars});
  };
  const auto of_one = [&](stats::Metric metric, const stats::CostHistogram& histogram) {
    add(metric, histogram, stats::ScalarsOf(histogram));
  };
  add(stats::Metric::kWallTime, sums.times.time, sums.times.scalars);
  add(stats::Metric::kCpuCycles, sums.times.cycles, sums.times.cycle_scalars);
  of_one(stats::Metric::kAllocInclusive, sums.inclusive);
  of_one(stats::Metric::kAllocExclusive, sums.exclusive);
  of_one(stats::Metric::kAllocSize, sums.sizes);
  for (unsigned i = 0; i < shm::kLabIoMetrics; ++i) {
    constexpr auto kFirst = static_cast<unsigned>(stats::Metric::kDiskRead);
    of_one(static_cast<stats::Metric>(kFirst + i), sums.moved[i]);
  }
  stats::CostHistogram calls;
  if (sums.calls != 0) calls.Add(sums.calls);
  of_one(stats::Metric::kCallsPerRun, calls);
  of_one(stats::Metric::kFirstCallTime, sums.times.first_calls);
  stats::CostHistogram reasons;
  for (std::uint32_t bit = 1; bit <= shm::kAllNotMeasured; bit *= 2) {
    if ((sums.not_measured & bit) != 0) reasons.Add(bit);
  }
  of_one(stats::Metric::kNotMeasured, reasons);
}

std::vector<wire::LabStack> StacksOf(const Sums& sums, const Naming& naming) {
  std::vector<wire::LabStack> stacks(sums.nodes().size());
  for (const auto& [where, node] : sums.nodes()) {
    const auto& [parent, api] = where;
    // Node 0 is the root; a node's parent precedes it.
    stacks[node - 1] = {.parent = parent == 0 ? wire::LabStack::kRoot : parent - 1,
                        .api = naming.place[api],
                        .calls = sums.stacks()[node].calls,
                        .bytes = sums.stacks()[node].bytes};
  }
  return wire::SortStacks(stacks);
}

}  // namespace

Result<wire::LabTable> MakeTable(const Measurement& measurement,
                                 const settings::AgentConfig& config, const TableOptions& options) {
  const Sums& sums = measurement.sums;
  FIELDCOST_ASSIGN(const Naming naming, NameApis(sums, config));
  const stats::HardwareClass hardware = settings::ThisHardware();
  wire::LabTable table;
  for (const std::uint32_t index : naming.order) {
    const ApiSums& api = sums.apis()[index];
    table.apis.push_back(ApiOf(api, sums.TotalsOf(api), naming.keys[index], naming.is_own[index]));
    AddRows(api, naming.keys[index], hardware, table.rows);
  }
  table.stacks = StacksOf(sums, naming);
  for (const auto& [outer, inner] : sums.pairs()) {
    table.pairs.emplace_back(naming.place[outer], naming.place[inner]);
  }
  std::sort(table.pairs.begin(), table.pairs.end());
  FIELDCOST_ASSIGN(std::string hash, wire::ContentHash(table));
  table.parts.push_back({.content_hash = std::move(hash),
                         .name = options.name,
                         .seed = measurement.seed,
                         .rounds = measurement.finished_rounds,
                         .runs = measurement.accepted_runs,
                         .left_out = measurement.surprised_runs + measurement.disturbed_runs +
                                     measurement.failed_runs,
                         .started_us = options.started_us,
                         .environment = options.environment,
                         .counted_runs = sums.map_runs(),
                         .apis = options.apis.substr(0, wire::kMaxLabEnvironmentBytes)});
  return table;
}

}  // namespace fieldcost::lab

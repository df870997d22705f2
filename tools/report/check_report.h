#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/stats/anomaly.h"
#include "common/stats/stat_row.h"
#include "tools/report/check_field.h"
#include "tools/report/cost_csv.h"
#include "tools/report/terminal.h"

namespace fieldcost::report {

// Is a profile worse than the field? The whole report about one metric of one machine.

// One API of the profile, before and after it has been compared.
struct CheckedApi {
  stats::RowKey key;  // of the profile
  stats::CostHistogram mine;
  FieldChoice field;
  stats::Comparison comparison;
};

struct CheckReport {
  stats::Metric metric = stats::Metric::kWallTime;
  std::uint64_t salt = 0;         // 0 = the draws are a function of the inputs alone
  std::vector<CheckedApi> apis;   // worse, too little data, normal; dearest first
  std::string profile;            // whose it is: "own measurements", or a file's name (untrusted)
  std::uint64_t own_unknown = 0;  // batches of mine in the field that could not be taken out

  std::size_t Count(stats::Verdict verdict) const;
  // A hash of the seeds of all comparisons: equal reports have equal ones.
  std::uint64_t Seed() const;
};

// Compares each API (on as many threads as there are processors, at most kMaxCheckThreads), then
// decides about all of them together and sorts them. The result does not depend on the number of
// threads or on the order of `apis`. Fills comparison; own_removed is that of the choice.
inline constexpr unsigned kMaxCheckThreads = 8;
CheckReport Check(std::vector<CheckedApi> apis, stats::Metric metric, std::uint64_t salt);

// Why there is too little data: "12 of 100 calls", "7 of 30 machines", "not in the catalogue".
// REQUIRES: it is.
std::string Lack(const CheckedApi& api);

// The lists "worse than the field" and "too little data" with n, A, ratio, delta, p of the machines
// and of the calls, q, seed and stratum, and how many are normal. Without `all` normal ones are
// only counted, and of those with too little data the first kMaxLacking are named. Names are
// escaped.
inline constexpr std::size_t kMaxLacking = 10;
std::string CheckText(const CheckReport& report, bool all, const Style& style);

// Everything about one API of the report: both tests, the effects, what it was compared with, and
// both distributions side by side, bucket by bucket, their bars on the same scale of shares.
std::string ExplainText(const CheckedApi& api, stats::Metric metric, const Style& style);

// A record for each API: api, library, symbol, version, build_id, symbol_version, metric, verdict,
// compared_with, field_versions, n, contributions, machines, field_calls (empty if few_machines),
// few_machines, ratio, cliffs_delta, octaves_above_typical_machine, p_calls, p_calls_method,
// p_ranks, p_machines, t, degrees_of_freedom, skewness (empty if
// not known), q, seed (hexadecimal), own_removed,
// snapshot, published, expired, synthetic.
std::string CheckCsv(const CheckReport& report, const Provenance& provenance);

// "exact", "drawn", "normal", "none".
std::string_view Name(stats::Method method);
// 16 hexadecimal digits.
std::string SeedText(std::uint64_t seed);

}  // namespace fieldcost::report

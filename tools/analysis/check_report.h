#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/stats/anomaly.h"
#include "common/stats/stat_row.h"
#include "tools/analysis/check_field.h"

namespace fieldcost::analysis {

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

// "exact", "drawn", "normal", "none".
std::string_view Name(stats::Method method);
// 16 hexadecimal digits.
std::string SeedText(std::uint64_t seed);

}  // namespace fieldcost::analysis

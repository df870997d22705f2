#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/inference/anomaly.h"
#include "common/stats/stat_row.h"
#include "tools/analysis/check_field.h"

namespace fieldcost::analysis {

// The report that compares one metric of a machine's profile with the field.

// One API of the profile, before and after it has been compared.
struct CheckedApi {
  stats::RowKey key;  // of the profile
  stats::CostHistogram mine;
  FieldChoice field;
  inference::Comparison comparison;
};

struct CheckReport {
  stats::Metric metric = stats::Metric::kWallTime;
  std::uint64_t salt = 0;         // 0 = the draws are a function of the inputs alone
  std::vector<CheckedApi> apis;   // worse, too little data, normal; most expensive first
  std::string profile;            // source: "own measurements", or a file's name (untrusted)
  std::uint64_t own_unknown = 0;  // own batches in the field that could not be subtracted

  std::size_t Count(inference::Verdict verdict) const;
  // A hash of the seeds of all comparisons; equal for equal reports.
  std::uint64_t Seed() const;
};

// Compares each API (on one thread per processor, at most kMaxCheckThreads), then decides over all
// of them and sorts them. The result depends neither on the number of threads nor on the order of
// `apis`. Fills in `comparison`; own_removed is taken from the choice.
inline constexpr unsigned kMaxCheckThreads = 8;
CheckReport Check(std::vector<CheckedApi> apis, stats::Metric metric, std::uint64_t salt);

// The reason for too little data: "12 of 100 calls", "7 of 30 machines", "not in the catalogue".
// REQUIRES: that is the verdict.
std::string Lack(const CheckedApi& api);

// "exact", "drawn", "normal", "none".
std::string_view Name(inference::Method method);
// 16 hexadecimal digits.
std::string SeedText(std::uint64_t seed);

}  // namespace fieldcost::analysis

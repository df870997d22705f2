#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/stats/api_key.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::spool {

// Encodes rows for the agent's database, and decodes them. Pure functions.

// A row's key on this machine (its hardware is the machine's).
struct LocalKey {
  stats::ApiKey api;
  stats::Metric metric = stats::Metric::kWallTime;
  std::uint32_t week = 0;
  auto operator<=>(const LocalKey&) const = default;
};

// The seven fields joined by single spaces (no field contains one); the week has 6 digits.
std::string EncodeKey(const LocalKey& key);
Result<LocalKey> DecodeKey(std::string_view untrusted_text);

// The non-empty buckets, 41 bytes each, and 8 bytes more if some calls were not timed
// (spool_row_codec.cc has the bytes).
std::string EncodeHistogram(const stats::CostHistogram& histogram);
// kCorrupt unless it is this format and a valid histogram.
Result<stats::CostHistogram> DecodeHistogram(std::string_view untrusted_bytes);

}  // namespace fieldcost::spool

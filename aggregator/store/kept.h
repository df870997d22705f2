#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::store {

// Batches that are in the sums are kept as received while batches of their epoch are accepted: in
// Table::kBatches under their numbers. The ledger stores each number under this key.
std::string KeptKey(std::string_view head_key, std::uint64_t sequence);
// Whether `key` is such a key; returns its sequence in `sequence`.
bool IsKeptKey(std::string_view key, std::uint64_t& sequence);
Result<std::uint64_t> DecodeKeptNumber(std::string_view untrusted_bytes);

// The inbox notes next to a withdrawal's record which batch to remove once the withdrawal is in the
// rows. This key is longer than a number's, so it cannot be one, and sorts right after it.
std::string RemovalKey(std::uint64_t withdrawal, std::uint64_t batch);
bool IsRemovalKey(std::string_view key, std::uint64_t& withdrawal, std::uint64_t& batch);

}  // namespace fieldcost::store

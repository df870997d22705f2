#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::store {

// Batches that are in the sums are kept as received, as long as a batch of their epoch may come: in
// Table::kBatches under their numbers. The ledger notes each number under this key.
std::string KeptKey(std::string_view head_key, std::uint64_t sequence);
// Whether it is such a key; `sequence` is what it names.
bool IsKeptKey(std::string_view key, std::uint64_t& sequence);
Result<std::uint64_t> DecodeKeptNumber(std::string_view untrusted_bytes);

// The inbox notes beside a withdrawal's record which batch is removed once the withdrawal is in the
// rows. This key is longer than a number's, so it is no number, and sorts right after it.
std::string RemovalKey(std::uint64_t withdrawal, std::uint64_t batch);
bool IsRemovalKey(std::string_view key, std::uint64_t& withdrawal, std::uint64_t& batch);

}  // namespace fieldcost::store

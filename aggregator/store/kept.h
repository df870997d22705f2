#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::store {

// Batches that are in the sums are kept as they came, as long as a batch of their epoch may come:
// in Table::kBatches under their numbers, and here is where the ledger has which number it is.
std::string KeptKey(std::string_view head_key, std::uint64_t sequence);
// Whether it is such a key; `sequence` is what it names.
bool IsKeptKey(std::string_view key, std::uint64_t& sequence);
Result<std::uint64_t> DecodeKeptNumber(std::string_view untrusted_bytes);

// The inbox has beside a withdrawal's record which batch goes once that is in the rows. Longer than
// a number's key, so it is none, and stands right behind it.
std::string GoingKey(std::uint64_t withdrawal, std::uint64_t batch);
bool IsGoingKey(std::string_view key, std::uint64_t& withdrawal, std::uint64_t& batch);

}  // namespace fieldcost::store

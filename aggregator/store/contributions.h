#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/acceptance.h"
#include "aggregator/store/database.h"
#include "common/base/result.h"

namespace fieldcost::store {

// Ledger entries for an agent's contributions: per batch and week, the keyed hashes of its first
// contributions' row keys without class and week. LAYOUT.md has the bytes.

std::string ContributionPrefix(std::string_view head_key);
std::string ContributionKey(std::string_view head_key, std::uint32_t week, std::uint64_t sequence);

// REQUIRES: `hashes` is ascending.
std::string EncodeContributions(const std::vector<std::uint64_t>& hashes);
// Appends them to `hashes`. kCorrupt unless well-formed and strictly ascending.
Status DecodeContributions(std::string_view untrusted_bytes, std::vector<std::uint64_t>& hashes);

// Adds to `changes` the removal of all contributions of the batch with these accepted rows.
Status DropContributions(std::string_view head_key, std::uint64_t sequence,
                         std::string_view accepted_rows, Database::WriteSet& changes);

// The key of the entry that stores an agent's binding in an epoch.
std::string BindingKey(std::string_view head_key);
std::string EncodeBinding(const AgentBinding& binding);
Result<AgentBinding> DecodeBinding(std::string_view untrusted_bytes);

}  // namespace fieldcost::store

#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "common/base/result.h"
#include "common/shm/policy_file.h"
#include "common/wire/policy.h"

namespace fieldcost::policy {

// The probability with which a program's random pick chooses each API. APIs with few contributions
// are preferred, so that the catalogue grows evenly instead of measuring malloc again and again.

// How much the catalogue knows about an API: the machines and weeks that contributed.
struct ApiContributions {
  std::uint64_t api_hash = 0;  // shm::ApiHash
  std::uint64_t contributions = 0;
  std::uint64_t name_hash = 0;  // shm::ApiHash without the symbol version
};

// An API with this many contributions is picked half as often as one without any.
inline constexpr std::uint64_t kHalfWeightContributions = 100;
// Even the best-known API is still picked occasionally: costs change with versions and machines.
inline constexpr std::uint32_t kLeastWeight = shm::kFullWeight / 64;

// max(kLeastWeight, kFullWeight * T / (T + c)), T = kHalfWeightContributions, rounded down.
std::uint32_t WeightOf(std::uint64_t contributions);

// Returns the policy file's entries, ascending by hash: one per API with contributions, at most
// shm::kMaxWeights; if there are more APIs, the best-known ones. If two APIs have the same hash,
// the smaller weight is used. The service's weights multiply those of all symbol versions in the
// catalogue, and apply to the function without a version. Pure.
std::vector<shm::WeightEntry> WeightsFrom(std::vector<ApiContributions> apis,
                                          const std::vector<wire::PolicyWeight>& policy = {});

// Returns the contributions in a local catalogue: at most a few times shm::kMaxWeights entries, the
// best-known APIs; none if there is no catalogue yet or its data is synthetic. An API's
// contributions are summed over all its versions, for the metric with the most. Takes seconds for a
// catalogue of a million rows.
Result<std::vector<ApiContributions>> ContributionsIn(const std::filesystem::path& catalog_file);

}  // namespace fieldcost::policy

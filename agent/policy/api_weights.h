#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "common/base/result.h"
#include "common/shm/policy_file.h"
#include "common/wire/policy.h"

namespace fieldcost::agent {

// The probability with which a program's random pick takes each API: APIs with few contributions
// are favoured, so that the catalogue grows evenly instead of measuring malloc again and again.

// How much the catalogue knows of an API: machines and weeks that contributed.
struct ApiContributions {
  std::uint64_t api_hash = 0;  // shm::ApiHash
  std::uint64_t contributions = 0;
  std::uint64_t name_hash = 0;  // shm::ApiHash without the symbol version
};

// An API with this many contributions is picked half as often as one without any.
inline constexpr std::uint64_t kHalfWeightContributions = 100;
// However well an API is known, it stays in the race: costs change with versions and machines.
inline constexpr std::uint32_t kLeastWeight = shm::kFullWeight / 64;

// max(kLeastWeight, kFullWeight * T / (T + c)), T = kHalfWeightContributions, rounded down.
std::uint32_t WeightOf(std::uint64_t contributions);

// The policy file's entries, ascending by hash: one an API with contributions, at most
// shm::kMaxWeights; if there are more APIs, those that are known best. Two APIs of one hash get the
// smaller weight of the two. The service's weights multiply those of all symbol versions that the
// catalogue knows, and hold for the function without a version. Pure.
std::vector<shm::WeightEntry> WeightsFrom(std::vector<ApiContributions> apis,
                                          const std::vector<wire::PolicyWeight>& policy = {});

// Returns the contributions in a local catalogue: at most a few times shm::kMaxWeights entries, the
// best known APIs; none if there is no catalogue yet or its data is synthetic. An API's
// contributions are those of all its versions in the metric with the most. Takes seconds for a
// catalogue of a million rows.
Result<std::vector<ApiContributions>> ContributionsIn(const std::filesystem::path& catalog_file);

}  // namespace fieldcost::agent

#include "agent/policy/api_weights.h"

#include <algorithm>
#include <map>
#include <string>

#include "common/catalog/catalog.h"
#include "common/shm/selection.h"

namespace fieldcost::policy {
namespace {

// Bounds the memory used while a catalogue is read.
constexpr std::size_t kMaxCollected = std::size_t{4} * shm::kMaxWeights;
// At or above this, the weight is the minimum in any case; below it, nothing overflows.
constexpr std::uint64_t kManyContributions = std::uint64_t{1} << 32;

bool IsKnownBetter(const ApiContributions& a, const ApiContributions& b) {
  if (a.contributions != b.contributions) return a.contributions > b.contributions;
  return a.api_hash < b.api_hash;
}

void KeepBestKnown(std::vector<ApiContributions>& apis, std::size_t count = shm::kMaxWeights) {
  if (apis.size() <= count) return;
  std::nth_element(apis.begin(), apis.begin() + static_cast<std::ptrdiff_t>(count), apis.end(),
                   IsKnownBetter);
  apis.resize(count);
}

// Joins the rows of one soname and symbol; programs pick each symbol version as a separate API.
void Collect(const std::vector<stats::StatRow>& rows, std::vector<ApiContributions>& apis) {
  std::map<std::string, std::map<stats::Metric, std::uint64_t>> by_symbol_version;
  for (const stats::StatRow& row : rows) {
    // Counts only the row over all classes and weeks; the others are its parts.
    if (row.key.week != 0 || row.key.hardware != stats::HardwareClass{}) continue;
    std::uint64_t& sum = by_symbol_version[row.key.api.symbol_version][row.key.metric];
    sum =
        std::min(sum + std::min(row.scalars.contributions, kManyContributions), kManyContributions);
  }
  for (const auto& [symbol_version, metrics] : by_symbol_version) {
    std::uint64_t most = 0;
    for (const auto& [metric, contributions] : metrics) most = std::max(most, contributions);
    const stats::ApiKey& api = rows[0].key.api;
    apis.push_back(
        {.api_hash = shm::ApiHash(api.soname.c_str(), api.symbol.c_str(), symbol_version.c_str()),
         .contributions = most,
         .name_hash = shm::ApiHash(api.soname.c_str(), api.symbol.c_str(), "")});
  }
  if (apis.size() >= kMaxCollected) KeepBestKnown(apis);
}

}  // namespace

std::uint32_t WeightOf(std::uint64_t contributions) {
  const std::uint64_t weight =
      shm::kFullWeight * kHalfWeightContributions /
      (kHalfWeightContributions + std::min(contributions, kManyContributions));
  return std::max(static_cast<std::uint32_t>(weight), kLeastWeight);
}

std::vector<shm::WeightEntry> WeightsFrom(std::vector<ApiContributions> apis,
                                          const std::vector<wire::PolicyWeight>& policy) {
  std::map<std::uint64_t, std::uint32_t> wanted;
  for (const wire::PolicyWeight& weight : policy) {
    wanted[shm::ApiHash(weight.soname.c_str(), weight.symbol.c_str(), "")] =
        std::min(weight.weight_per_65536, shm::kFullWeight);
  }
  std::erase_if(apis, [](const ApiContributions& api) { return api.contributions == 0; });
  std::sort(apis.begin(), apis.end(), [](const ApiContributions& a, const ApiContributions& b) {
    return a.api_hash != b.api_hash ? a.api_hash < b.api_hash : a.contributions > b.contributions;
  });
  apis.erase(std::unique(apis.begin(), apis.end(),
                         [](const ApiContributions& a, const ApiContributions& b) {
                           return a.api_hash == b.api_hash;
                         }),
             apis.end());
  KeepBestKnown(apis, shm::kMaxWeights - std::min<std::size_t>(wanted.size(), shm::kMaxWeights));
  std::map<std::uint64_t, std::uint32_t> weights(wanted);
  for (const ApiContributions& api : apis) {
    const auto factor = wanted.find(api.name_hash);
    const std::uint64_t of_policy = factor == wanted.end() ? shm::kFullWeight : factor->second;
    weights[api.api_hash] =
        static_cast<std::uint32_t>(WeightOf(api.contributions) * of_policy / shm::kFullWeight);
  }
  std::vector<shm::WeightEntry> entries;
  entries.reserve(weights.size());
  for (const auto& [hash, weight] : weights) {
    entries.push_back({.api_hash = hash, .weight = weight, .reserved = 0});
  }
  return entries;
}

Result<std::vector<ApiContributions>> ContributionsIn(const std::filesystem::path& catalog_file) {
  std::vector<ApiContributions> apis;
  const auto catalog = catalog::Catalog::Open(catalog_file);
  if (!catalog) {
    if (catalog.error().code == ErrorCode::kNotFound) return apis;
    return catalog.error();
  }
  FIELDCOST_ASSIGN(const catalog::Freshness freshness, catalog->GetFreshness());
  if (freshness.synthetic) return apis;
  FIELDCOST_TRY(
      catalog->ForEachApi([&](const std::vector<stats::StatRow>& rows) { Collect(rows, apis); }));
  return apis;
}

}  // namespace fieldcost::policy

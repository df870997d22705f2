#include "agent/policy/choose_weights.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "agent/policy/api_weights.h"
#include "common/base/log.h"

namespace fieldcost::policy {
namespace {

// A catalogue changed less than this before the policy was written may have changed while it was
// being read.
constexpr std::chrono::seconds kCatalogReadTime{10};

// Whether a policy written at `policy_ns` reflects all of a catalogue last changed at `catalog_ns`.
bool HasSeen(std::int64_t policy_ns, std::int64_t catalog_ns) {
  return policy_ns - catalog_ns > std::chrono::nanoseconds(kCatalogReadTime).count();
}

}  // namespace

std::int64_t CatalogChangeNs(const std::filesystem::path& catalog_file) {
  // The newest data may be only in the write-ahead log. A reader creates an empty log.
  return std::max(runs::ChangeNs(catalog_file), runs::ChangeNs(catalog_file.string() + "-wal"));
}

runs::PolicyWeights ChooseWeights(const settings::AgentPaths& paths,
                                  const settings::AgentConfig& config, WeightSource source) {
  const std::int64_t catalog_ns = CatalogChangeNs(paths.catalog_file);
  const auto policy = static_cast<std::uint32_t>(config.field_policy_version);
  if (catalog_ns == 0) return {WeightsFrom({}, config.policy_weights), policy, 0};
  runs::PresentPolicy present = runs::LoadPresentPolicy(paths);
  if (present.weights && HasSeen(present.change_ns, catalog_ns) &&
      present.weights_policy == policy) {
    return {*std::move(present.weights), policy, 0};
  }
  runs::PolicyWeights unchanged{
      .entries = std::move(present.weights).value_or(std::vector<shm::WeightEntry>()),
      .policy = present.weights_policy,
      .unseen_ns = 0};
  if (source == WeightSource::kPresentPolicy) {
    unchanged.unseen_ns = catalog_ns;
    return unchanged;
  }
  auto apis = ContributionsIn(paths.catalog_file);
  if (apis) return {WeightsFrom(std::move(*apis), config.policy_weights), policy, 0};
  LogWarning("the policy's weights are unchanged: {}", apis.error().message);
  return unchanged;
}

}  // namespace fieldcost::policy

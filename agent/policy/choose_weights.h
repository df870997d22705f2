#pragma once

#include <cstdint>
#include <filesystem>

#include "agent/runs/policy_writer.h"
#include "agent/settings/agent_config.h"
#include "agent/settings/paths.h"

namespace fieldcost::policy {

// The source of the weights: the present policy, or the local catalogue, which is read only if it
// has changed since the policy was last checked. Reading it takes seconds.
enum class WeightSource { kCatalogue, kPresentPolicy };

// The weights for the next policy file: those of the local catalogue, multiplied by those of the
// service's policy. If the catalogue cannot be read, the present weights are kept.
runs::PolicyWeights ChooseWeights(const settings::AgentPaths& paths,
                                  const settings::AgentConfig& config, WeightSource source);

// When a catalogue was last changed, in ns since 1970; 0 if it does not exist.
std::int64_t CatalogChangeNs(const std::filesystem::path& catalog_file);

}  // namespace fieldcost::policy

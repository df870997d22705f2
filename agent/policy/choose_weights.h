#pragma once

#include <cstdint>
#include <filesystem>

#include "agent/runs/policy_writer.h"
#include "agent/settings/agent_config.h"
#include "agent/settings/paths.h"

namespace fieldcost::agent {

// The source of the weights: the local catalogue, which is read if it has changed since the policy
// was last checked and then takes seconds, or the present policy.
enum class WeightSource { kCatalogue, kPresentPolicy };

// The weights for the next policy file: those of the local catalogue, multiplied by the service's
// policy's. If the catalogue cannot be read they stay as they are.
PolicyWeights ChooseWeights(const AgentPaths& paths, const AgentConfig& config,
                            WeightSource source);

// Returns when a catalogue was last changed, in ns since 1970; 0 without a catalogue.
std::int64_t CatalogChangeNs(const std::filesystem::path& catalog_file);

}  // namespace fieldcost::agent

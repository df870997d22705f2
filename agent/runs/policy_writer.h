#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agent/settings/agent_config.h"
#include "agent/settings/memory_dir.h"
#include "agent/settings/paths.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/shm/policy_file.h"

namespace fieldcost::agent {

// The names that installed headers and manual pages document, as the policy file has them.
struct DocumentedNames {
  std::string bits;          // see shm::DocumentedBit(); empty: nothing is known
  std::uint32_t source = 0;  // as in the header
};

struct PolicyInput {
  bool collection_enabled = false;
  std::optional<WallTime> paused_until;  // kUntilResumed: until the policy is written anew
  std::uint64_t tsc_to_ns_multiplier = 0;
  std::uint32_t serial = 1;
  std::vector<shm::WeightEntry> weights;  // ascending by hash, at most shm::kMaxWeights
  std::uint32_t weights_policy = 0;       // as in the header
  DocumentedNames documented;             // of a size that shm::IsDocumentedSize() accepts
  std::optional<MemoryDir> memory;        // none: programs cannot measure
};

// The sonames programs may be measured for: the public ones and the configured ones, ascending,
// without duplicates, at most shm::kMaxAllowedModules.
std::vector<std::string> AllowedModules(const AgentConfig& config);

// The bytes of a policy file as common/shm/policy_file.h describes them. Pure.
std::string BuildPolicy(const AgentConfig& config, const PolicyInput& input);

// The greatest policy file there can be.
inline constexpr std::size_t kMaxPolicyBytes =
    sizeof(shm::PolicyHeader) + shm::kMaxAllowedModules * sizeof(shm::AllowedModule) +
    shm::kMaxWeights * sizeof(shm::WeightEntry) + shm::kMaxDocumentedBytes;

// Returns the serial of an existing policy file; 0 if it is missing or invalid.
std::uint32_t PolicySerial(const std::filesystem::path& file);

// When a file was last written to, in ns since 1970; 0 if it is not there or empty.
std::int64_t ChangeNs(const std::filesystem::path& file);

// The facts about the present policy file.
struct PresentPolicy {
  std::uint32_t serial = 0;                              // 0: there is none, or it is not one
  std::optional<std::vector<shm::WeightEntry>> weights;  // nullopt: the same, or they are damaged
  std::uint32_t weights_policy = 0;
  std::uint32_t documented_source = 0;
  std::int64_t change_ns = 0;  // ChangeNs()
};
PresentPolicy LoadPresentPolicy(const AgentPaths& paths);

// Weights for a policy, and what they are made of.
struct PolicyWeights {
  std::vector<shm::WeightEntry> entries;  // ascending by hash, at most shm::kMaxWeights
  std::uint32_t policy = 0;               // the service's policy whose weights are in them
  // The catalogue's change (ChangeNs()) that they do not know yet; 0 = they are up to date.
  std::int64_t unseen_ns = 0;
};

// Makes the state directory and the memory directory with runs/ (mode 0700), the skip file if it is
// not there, and replaces the policy file (mode 0600) if it would change; each change has a higher
// serial, even if several processes write at the same time. Without a memory directory, the policy
// states that, and programs measure nothing. The weights reflect the catalogue as of the
// file's time. Without `documented`, the documented names of the present file stay.
Status WritePolicyFile(const AgentPaths& paths, const AgentConfig& config, bool collection_enabled,
                       PolicyWeights weights,
                       std::optional<DocumentedNames> documented = std::nullopt);

// Makes programs measure nothing, if there is a policy file. Used if the decision is "off" or
// cannot be read, which means the same. The weights and the documented names stay unchanged.
Status StopMeasuring(const AgentPaths& paths, const AgentConfig& config);

}  // namespace fieldcost::agent

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

namespace fieldcost::runs {

// The names that installed headers and manual pages document, in the policy file's format.
struct DocumentedNames {
  std::string bits;          // see shm::DocumentedBit(); empty = unknown
  std::uint32_t source = 0;  // as in the header
};

struct PolicyInput {
  bool collection_enabled = false;
  std::optional<WallTime> paused_until;  // kUntilResumed: until the next policy is written
  std::uint64_t tsc_to_ns_multiplier = 0;
  std::uint32_t serial = 1;
  std::vector<shm::WeightEntry> weights;      // ascending by hash, at most shm::kMaxWeights
  std::uint32_t weights_policy = 0;           // as in the header
  DocumentedNames documented;                 // its size satisfies shm::IsDocumentedSize()
  std::optional<settings::MemoryDir> memory;  // none: programs cannot measure
};

// The sonames that programs may measure: the public ones and the configured ones, ascending,
// without duplicates, at most shm::kMaxAllowedModules.
std::vector<std::string> AllowedModules(const settings::AgentConfig& config);

// Returns a policy file in the format of common/shm/policy_file.h. Pure.
std::string BuildPolicy(const settings::AgentConfig& config, const PolicyInput& input);

// The maximum size of a policy file.
inline constexpr std::size_t kMaxPolicyBytes =
    sizeof(shm::PolicyHeader) + shm::kMaxAllowedModules * sizeof(shm::AllowedModule) +
    shm::kMaxWeights * sizeof(shm::WeightEntry) + shm::kMaxDocumentedBytes;

// Returns the serial of an existing policy file; 0 if it is missing or invalid.
std::uint32_t PolicySerial(const std::filesystem::path& file);

// When a file was last modified, in ns since 1970; 0 if it is missing or empty.
std::int64_t ChangeNs(const std::filesystem::path& file);

// The state of the current policy file.
struct PresentPolicy {
  std::uint32_t serial = 0;                              // 0 if missing or invalid
  std::optional<std::vector<shm::WeightEntry>> weights;  // nullopt also if they are damaged
  std::uint32_t weights_policy = 0;
  std::uint32_t documented_source = 0;
  std::int64_t change_ns = 0;  // ChangeNs()
};
PresentPolicy LoadPresentPolicy(const settings::AgentPaths& paths);

// Weights for a policy, and their sources.
struct PolicyWeights {
  std::vector<shm::WeightEntry> entries;  // ascending by hash, at most shm::kMaxWeights
  std::uint32_t policy = 0;               // the service's policy whose weights they include
  // The change (ChangeNs()) of the catalogue that they do not reflect yet; 0 = up to date.
  std::int64_t unseen_ns = 0;
};

// Creates the state directory, the memory directory with runs/ (mode 0700) and the skip file if
// missing, and replaces the policy file (mode 0600) if it would change. Each change has a higher
// serial, even if several processes write at the same time. Without a memory directory, the policy
// states this, and programs measure nothing. The weights reflect the catalogue as of the file's
// time. Without `documented`, the present documented names are kept.
Status WritePolicyFile(const settings::AgentPaths& paths, const settings::AgentConfig& config,
                       bool collection_enabled, PolicyWeights weights,
                       std::optional<DocumentedNames> documented = std::nullopt);

// Stops programs from measuring, if there is a policy file. Used if the decision is "off" or
// unreadable, which means the same. The weights and the documented names are kept.
Status StopMeasuring(const settings::AgentPaths& paths, const settings::AgentConfig& config);

}  // namespace fieldcost::runs

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "agent/settings/agent_config.h"
#include "agent/settings/paths.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/wire/policy.h"

namespace fieldcost::agent {

// The policy that the operator of a service publishes for all agents (common/wire/policy.h), as
// this agent follows it. README.md has the files, and what an attacker can do with it.

// Limits that no policy can exceed. A policy's 0 for "no limit" stands for these as well.
inline constexpr double kMaxPolicySelection = 0.25;
inline constexpr std::uint64_t kMaxPolicyPicks = 8;
inline constexpr std::uint64_t kMaxPolicyPrograms = 16;
inline constexpr std::uint64_t kMaxPolicyLoadPercent = 100;
inline constexpr std::uint64_t kMaxPolicyPressurePercent = 50;
inline constexpr double kMaxPolicyOverheadPercent = 2.0;
inline constexpr std::uint64_t kMaxPolicyRunFiles = 256;
inline constexpr std::uint64_t kMinPolicyPhaseMinutes = 10;  // or 0: a program never picks anew
inline constexpr std::uint64_t kMaxPolicyPhaseMinutes = 60 * 24 * 28;
inline constexpr std::uint64_t kMaxPolicyPhases = 96;
inline constexpr std::uint64_t kMinPolicyBatchBytes = 1024;
inline constexpr std::uint64_t kMaxPolicyBatchBytes = wire::kBatchTargetBytes;
inline constexpr std::uint64_t kMaxPolicyBatchAgeHours = 24 * 28;
inline constexpr std::chrono::hours kMinPolicyUploadInterval{1};
inline constexpr std::chrono::hours kMaxPolicyUploadInterval{24 * 7};

// The settings in force: the built-in ones, over them the policy's as far as the limits above
// allow, over those what the user has written in agent.toml. Pure.
AgentConfig ApplyPolicy(AgentConfig config, const wire::PolicyMetadata& policy);

// The stored policy of the service, verified again at each load.
struct FieldPolicy {
  std::optional<wire::PolicyMetadata> in_force;
  std::string problem;  // why a policy that was fetched, or the last one offered, is not in force
};
FieldPolicy LoadFieldPolicy(const AgentPaths& paths, WallTime now);

// agent.toml, with the policy applied unless download_policy is false.
Result<AgentConfig> LoadConfigInForce(const AgentPaths& paths, WallTime now);

// Asks the service for its policy, and for newer roots, if a day has passed since the last time
// (success or not) and there is a pinned root to verify them with. True if something has changed,
// so that LoadConfigInForce() should be asked again. A policy that is refused leaves the one before
// in force; one that the service no longer has (404) goes. To be called in mode on only.
Result<bool> FetchFieldPolicy(const AgentPaths& paths, const AgentConfig& config, WallTime now);

// What FetchFieldPolicy() keeps, in the state directory.
inline constexpr char kFieldPolicyName[] = "field_policy";
inline constexpr char kFieldPolicyCheckName[] = "field_policy_check";

// The content of the file kFieldPolicyName.
struct KeptPolicy {
  std::uint64_t highest_version = 0;  // ever verified under the policy keys of `root`
  std::string pinned_sha256;          // hex, of the pinned root that it all began with
  std::string root;                   // the newest verified, signed
  std::string policy;                 // signed; empty = none
  bool operator==(const KeptPolicy&) const = default;
};
std::string EncodeKeptPolicy(const KeptPolicy& kept);
Result<KeptPolicy> DecodeKeptPolicy(std::string_view untrusted_bytes);  // kCorrupt

}  // namespace fieldcost::agent

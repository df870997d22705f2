#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "agent/settings/agent_config.h"
#include "agent/settings/paths.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/wire/policy.h"

namespace fieldcost::policy {

// The policy that a service's operator publishes for all agents (common/wire/policy.h), as applied
// by this agent. README.md describes the files, and what an attacker could do with them.

// Limits that no policy can exceed. A policy's 0 for "no limit" also means these.
inline constexpr double kMaxPolicySelection = 0.25;
inline constexpr std::uint64_t kMaxPolicyPicks = 8;
inline constexpr std::uint64_t kMaxPolicyPrograms = 16;
inline constexpr std::uint64_t kMaxPolicyLoadPercent = 100;
inline constexpr std::uint64_t kMaxPolicyPressurePercent = 50;
inline constexpr double kMaxPolicyOverheadPercent = 2.0;
inline constexpr std::uint64_t kMaxPolicyRunFiles = 256;
inline constexpr std::uint64_t kMinPolicyPhaseMinutes = 10;  // or 0: a program never picks again
inline constexpr std::uint64_t kMaxPolicyPhaseMinutes = 60 * 24 * 28;
inline constexpr std::uint64_t kMaxPolicyPhases = 96;
inline constexpr std::uint64_t kMinPolicyBatchBytes = 1024;
inline constexpr std::uint64_t kMaxPolicyBatchBytes = wire::kBatchTargetBytes;
inline constexpr std::uint64_t kMaxPolicyBatchAgeHours = 24 * 28;
inline constexpr std::chrono::hours kMinPolicyUploadInterval{1};
inline constexpr std::chrono::hours kMaxPolicyUploadInterval{24 * 7};

// The settings in force: the built-in ones, overridden by the policy within the limits above,
// overridden by the user's own in agent.toml. Pure.
settings::AgentConfig ApplyPolicy(settings::AgentConfig config, const wire::PolicyMetadata& policy);

// The stored policy of the service, verified again on each load.
struct FieldPolicy {
  std::optional<wire::PolicyMetadata> in_force;
  std::string problem;  // why the stored policy, or the last one offered, is not in force
};
FieldPolicy LoadFieldPolicy(const settings::AgentPaths& paths, WallTime now);

// agent.toml, with the policy applied unless download_policy is false.
Result<settings::AgentConfig> LoadConfigInForce(const settings::AgentPaths& paths, WallTime now);

// Requests the service's policy, and newer roots, if a day has passed since the last attempt
// (successful or not) and there is a pinned root to verify them with. Returns true if anything has
// changed, so that LoadConfigInForce() should be called again. If a policy is refused, the previous
// one stays in force; if the service no longer has one (403, 404 or 410), it is dropped. Call in
// mode on only.
Result<bool> FetchFieldPolicy(const settings::AgentPaths& paths,
                              const settings::AgentConfig& config, WallTime now);

// The files of FetchFieldPolicy() in the state directory.
inline constexpr char kFieldPolicyName[] = "field_policy";
inline constexpr char kFieldPolicyCheckName[] = "field_policy_check";

// The content of the file kFieldPolicyName.
struct KeptPolicy {
  std::uint64_t highest_version = 0;  // ever verified under the policy keys of the newest root
  // All verified ones by version, signed; the pinned one is among them. Not empty.
  std::map<std::uint64_t, std::string> roots;
  std::string policy;  // signed, by a key of the newest root; empty = none
  bool operator==(const KeptPolicy&) const = default;
};
std::string EncodeKeptPolicy(const KeptPolicy& kept);
Result<KeptPolicy> DecodeKeptPolicy(std::string_view untrusted_bytes);  // kCorrupt

}  // namespace fieldcost::policy

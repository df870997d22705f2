// The stored policy of the service (common/wire/metadata.cc), and the time of the last check;
// numbers are decimal.
//
//   kept  := "fieldcost field policy 1\n" highest_version " " root_count " " policy_bytes "\n"
//            { version " " root_bytes "\n" root }*root_count policy
//            ; all signed; versions ascend; root_count at least 1; policy_bytes 0 = none
//   check := unix_seconds " " [what went wrong] "\n"
#include "agent/policy/field_policy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "agent/settings/consent.h"
#include "agent/upload/service_requests.h"
#include "agent/upload/upload_lock.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/catalog/root_chain.h"

namespace fieldcost::policy {
namespace {

constexpr std::string_view kMagicLine = "fieldcost field policy 1\n";
constexpr std::size_t kMaxLineBytes = 128;
// All rotations of one update with roots of the largest size; or tens of thousands of usual size.
constexpr std::size_t kMaxKeptRootsBytes = catalog::kMaxRootUpdates * catalog::kMaxRootBytes;
constexpr std::size_t kMaxKeptBytes = kMaxLineBytes + kMaxKeptRootsBytes + wire::kMaxPolicyBytes;
constexpr std::size_t kMaxCheckBytes = 4096;
constexpr std::size_t kMaxProblemBytes = 512;
constexpr std::chrono::hours kCheckPeriod{24};
constexpr std::uint32_t kSecondsPerMinute = 60;
constexpr std::uint32_t kMaxSamplingShift = 14;
constexpr double kWhole = 65536.0;

double Share(std::uint32_t per_65536, double most) { return std::min(per_65536 / kWhole, most); }

// Applies a limit; 0 means no limit.
std::uint64_t Limited(std::uint32_t value, std::uint64_t most) {
  return value == 0 ? most : std::min<std::uint64_t>(value, most);
}

std::uint64_t PhaseMinutes(std::uint32_t seconds) {
  if (seconds == 0) return 0;
  const std::uint64_t minutes =
      (std::uint64_t{seconds} + kSecondsPerMinute - 1) / kSecondsPerMinute;
  return std::clamp(minutes, kMinPolicyPhaseMinutes, kMaxPolicyPhaseMinutes);
}

std::filesystem::path KeptFile(const settings::AgentPaths& paths) {
  return paths.state_dir / kFieldPolicyName;
}
std::filesystem::path CheckFile(const settings::AgentPaths& paths) {
  return paths.state_dir / kFieldPolicyCheckName;
}

// Larger numbers of seconds are not valid times (the year 36812).
constexpr std::uint64_t kMaxUnixSeconds = std::uint64_t{1} << 40;

// The time of the last request to the service, and the problem with its response.
struct Check {
  std::int64_t unix_seconds = 0;
  std::string problem;
};

Check LoadCheck(const settings::AgentPaths& paths) {
  const auto bytes = ReadFile(CheckFile(paths), kMaxCheckBytes);
  if (!bytes) return {};
  const std::size_t space = std::min(bytes->find(' '), bytes->size());
  const auto seconds = ParseUint64(std::string_view(*bytes).substr(0, space));
  if (!seconds || *seconds > kMaxUnixSeconds || bytes->back() != '\n') return {};
  Check check{.unix_seconds = static_cast<std::int64_t>(*seconds), .problem = {}};
  if (space + 1 < bytes->size()) {
    check.problem = EscapeControl(bytes->substr(space + 1, bytes->size() - space - 2));
  }
  return check;
}

Status SaveCheck(const settings::AgentPaths& paths, WallTime now, std::string_view problem) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  return WriteFileAtomically(CheckFile(paths),
                             fmt::format("{} {}\n", std::max<std::int64_t>(seconds, 0),
                                         EscapeControl(problem.substr(0, kMaxProblemBytes))),
                             0600);
}

// A check in the future comes from a wrong clock.
bool IsCheckDue(const settings::AgentPaths& paths, WallTime now) {
  const WallTime last{std::chrono::seconds(LoadCheck(paths).unix_seconds)};
  return now - last >= kCheckPeriod || last > now;
}

// The newest root as verified when it was saved.
Result<wire::RootMetadata> NewestRoot(const KeptPolicy& kept) {
  auto root = wire::VerifyPinnedRoot(kept.roots.rbegin()->second);
  if (!root) return Within(root.error(), "verify the policy's newest root");
  return root;
}

// The state before the first fetch.
Result<KeptPolicy> Fresh(const std::string& pinned) {
  const auto root = wire::VerifyPinnedRoot(pinned);
  if (!root) return Within(root.error(), "verify the policy's trusted root");
  return KeptPolicy{.highest_version = 0, .roots = {{root->version, pinned}}, .policy = {}};
}

// Loads what is stored, if it belongs to the pinned root: this is one of the roots, or has the
// policy keys of the newest (a package can bring a newer root). Otherwise it is another service's,
// and is ignored.
Result<KeptPolicy> LoadKept(const settings::AgentPaths& paths, const std::string& pinned) {
  FIELDCOST_ASSIGN(KeptPolicy fresh, Fresh(pinned));
  const auto untrusted_bytes = ReadFile(KeptFile(paths), kMaxKeptBytes);
  if (!untrusted_bytes) {
    if (untrusted_bytes.error().code == ErrorCode::kNotFound) return fresh;
    return untrusted_bytes.error();
  }
  auto kept = DecodeKeptPolicy(*untrusted_bytes);
  if (!kept) return Within(kept.error(), KeptFile(paths).string());
  const std::uint64_t version = fresh.roots.begin()->first;
  const auto same = kept->roots.find(version);
  if (same != kept->roots.end()) return same->second == pinned ? *kept : fresh;
  FIELDCOST_ASSIGN(const wire::RootMetadata newest, NewestRoot(*kept));
  FIELDCOST_ASSIGN(const wire::RootMetadata now_pinned, NewestRoot(fresh));
  if (newest.policy_keys.empty() ||
      catalog::KeysDiffer(newest.policy_keys, now_pinned.policy_keys)) {
    return fresh;
  }
  kept->roots[version] = pinned;
  return kept;
}

Status SaveKept(const settings::AgentPaths& paths, const KeptPolicy& kept) {
  std::string bytes = EncodeKeptPolicy(kept);
  if (bytes.size() > kMaxKeptBytes) {
    return Fail(ErrorCode::kTooLarge, "save {}: the roots have more than {} bytes",
                KeptFile(paths).string(), kMaxKeptRootsBytes);
  }
  return WriteFileAtomically(KeptFile(paths), bytes, 0600);
}

// Follows the roots; each is saved as soon as it is verified.
Result<wire::RootMetadata> FetchRoots(http::Client& client, const settings::AgentPaths& paths,
                                      WallTime now, const std::string& pinned, KeptPolicy& kept) {
  FIELDCOST_ASSIGN(wire::RootMetadata newest, NewestRoot(kept));
  const catalog::RootChain chain{
      .pinned = pinned, .kept = kept.roots, .save = [&](const catalog::TrustedRoot& root) {
        if (root.metadata.version > newest.version) {
          // The holder of a replaced key may have published an absurdly high version.
          if (catalog::KeysDiffer(root.metadata.policy_keys, newest.policy_keys)) {
            kept.highest_version = 0;
            kept.policy.clear();
          }
          newest = root.metadata;
        }
        kept.roots[root.metadata.version] = root.bytes;
        return SaveKept(paths, kept);
      }};
  FIELDCOST_ASSIGN(catalog::TrustedRoot root,
                   catalog::FollowRootChain(catalog::FetchFrom(client), chain, now));
  return std::move(root.metadata);
}

Status Fetch(http::Client& client, const settings::AgentPaths& paths, WallTime now,
             const std::string& pinned, KeptPolicy& kept) {
  FIELDCOST_ASSIGN(const wire::RootMetadata root, FetchRoots(client, paths, now, pinned, kept));
  auto untrusted = catalog::Fetch(client, wire::kPolicyPath, wire::kMaxPolicyBytes, "policy");
  if (!untrusted) {
    if (untrusted.error().code != ErrorCode::kNotFound) return untrusted.error();
    kept.policy.clear();
    return {};
  }
  const auto policy = wire::VerifyPolicy(*untrusted, root);
  if (!policy) return Within(policy.error(), "policy");
  FIELDCOST_TRY(catalog::CheckNotLower("policy", policy->version, kept.highest_version));
  FIELDCOST_TRY(catalog::CheckExpiry("policy", policy->expires, now));
  if (policy->version == kept.highest_version && !kept.policy.empty() &&
      *untrusted != kept.policy) {
    return catalog::DifferentContent("policy", policy->version);
  }
  kept.highest_version = policy->version;
  kept.policy = std::move(*untrusted);
  return {};
}

// Removes a line of numbers, which single spaces separate, from the beginning of `untrusted_rest`.
// nullopt if it has another form.
template <std::size_t kCount>
std::optional<std::array<std::uint64_t, kCount>> TakeNumbers(std::string_view& untrusted_rest) {
  const std::size_t line_end = untrusted_rest.substr(0, kMaxLineBytes).find('\n');
  if (line_end == std::string_view::npos) return std::nullopt;
  std::string_view line = untrusted_rest.substr(0, line_end);
  std::array<std::uint64_t, kCount> numbers{};
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::size_t end = i + 1 < kCount ? line.find(' ') : line.size();
    if (end == std::string_view::npos) return std::nullopt;
    const auto number = ParseUint64(line.substr(0, end));
    if (!number) return std::nullopt;
    numbers[i] = *number;
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  untrusted_rest.remove_prefix(line_end + 1);
  return numbers;
}

Status Verify(const KeptPolicy& kept, WallTime now, FieldPolicy& policy) {
  FIELDCOST_ASSIGN(const wire::RootMetadata root, NewestRoot(kept));
  auto verified = wire::VerifyPolicy(kept.policy, root);
  if (!verified) return Within(verified.error(), "the policy");
  FIELDCOST_TRY(catalog::CheckExpiry("root metadata", root.expires, now));
  FIELDCOST_TRY(catalog::CheckExpiry("policy", verified->expires, now));
  policy.in_force = std::move(*verified);
  return {};
}

}  // namespace

settings::AgentConfig ApplyPolicy(settings::AgentConfig config,
                                  const wire::PolicyMetadata& policy) {
  const auto apply = [&config](std::string_view key, const auto& value, auto& setting,
                               auto&& limit) {
    if (value && !config.written.contains(key)) setting = limit(*value);
  };
  const auto share = [](std::uint32_t value) { return Share(value, 1.0); };

  // The draw, and its probability.
  apply("selection.selection_probability", policy.selection_per_65536, config.selection_probability,
        [](std::uint32_t value) { return Share(value, kMaxPolicySelection); });
  apply("selection.picks_per_run", policy.picks_per_run, config.picks_per_run,
        [](std::uint32_t value) { return std::clamp<std::uint64_t>(value, 1, kMaxPolicyPicks); });
  apply("selection.alloc_probability", policy.alloc_per_65536, config.alloc_probability, share);
  apply("selection.io_probability", policy.io_per_65536, config.io_probability, share);
  apply("selection.cycles_probability", policy.cycles_per_65536, config.cycles_probability, share);

  // How much may be measured at once, and its permitted cost.
  apply("selection.max_programs", policy.max_programs, config.max_programs,
        [](std::uint32_t value) { return Limited(value, kMaxPolicyPrograms); });
  apply("selection.max_load_per_core_percent", policy.max_load_per_core_percent,
        config.max_load_per_core_percent,
        [](std::uint32_t value) { return Limited(value, kMaxPolicyLoadPercent); });
  apply("selection.max_cpu_pressure_percent", policy.max_cpu_pressure_percent,
        config.max_cpu_pressure_percent,
        [](std::uint32_t value) { return Limited(value, kMaxPolicyPressurePercent); });
  apply("selection.overhead_percent", policy.overhead_per_65536, config.overhead_percent,
        [](std::uint32_t value) {
          const double percent = value * 100 / kWhole;
          return value == 0 ? kMaxPolicyOverheadPercent
                            : std::min(percent, kMaxPolicyOverheadPercent);
        });
  apply("selection.max_run_files", policy.max_run_files, config.max_run_files,
        [](std::uint32_t value) { return Limited(value, kMaxPolicyRunFiles); });

  // The length of a run, and how often a call is timed.
  apply("selection.phase_minutes", policy.phase_seconds, config.phase_minutes, PhaseMinutes);
  apply("selection.max_phases", policy.max_phases, config.max_phases,
        [](std::uint32_t value) { return std::clamp<std::uint64_t>(value, 1, kMaxPolicyPhases); });
  apply("selection.sampling", policy.sampling_log2, config.sampling,
        [](std::uint32_t value) { return std::uint64_t{1} << std::min(value, kMaxSamplingShift); });

  // The size and timing of batches.
  apply("batch.max_batch_bytes", policy.max_batch_bytes, config.max_batch_bytes,
        [](std::uint32_t value) {
          return std::clamp<std::uint64_t>(value, kMinPolicyBatchBytes, kMaxPolicyBatchBytes);
        });
  apply("batch.max_batch_age_hours", policy.max_batch_age_hours, config.max_batch_age_hours,
        [](std::uint32_t value) {
          return std::clamp<std::uint64_t>(value, 1, kMaxPolicyBatchAgeHours);
        });
  if (policy.min_upload_interval_seconds) {
    config.min_upload_interval =
        std::clamp<std::chrono::seconds>(std::chrono::seconds(*policy.min_upload_interval_seconds),
                                         kMinPolicyUploadInterval, kMaxPolicyUploadInterval);
  }

  config.field_policy_version = policy.version;
  config.policy_modules = policy.modules;
  config.policy_weights = policy.weights;
  return config;
}

std::string EncodeKeptPolicy(const KeptPolicy& kept) {
  std::string bytes = fmt::format("{}{} {} {}\n", kMagicLine, kept.highest_version,
                                  kept.roots.size(), kept.policy.size());
  for (const auto& [version, root] : kept.roots) {
    bytes += fmt::format("{} {}\n{}", version, root.size(), root);
  }
  return bytes + kept.policy;
}

Result<KeptPolicy> DecodeKeptPolicy(std::string_view untrusted_bytes) {
  const Error damaged = Fail(ErrorCode::kCorrupt, "not the stored policy");
  if (!untrusted_bytes.starts_with(kMagicLine)) return damaged;
  std::string_view rest = untrusted_bytes.substr(kMagicLine.size());
  const auto head = TakeNumbers<3>(rest);
  if (!head) return damaged;
  const auto [highest_version, root_count, policy_bytes] = *head;
  KeptPolicy kept{.highest_version = highest_version, .roots = {}, .policy = {}};
  while (kept.roots.size() < root_count) {
    const auto line = TakeNumbers<2>(rest);
    if (!line) return damaged;
    const auto [version, root_bytes] = *line;
    if (root_bytes > std::min(catalog::kMaxRootBytes, rest.size()) ||
        (!kept.roots.empty() && version <= kept.roots.rbegin()->first)) {
      return damaged;
    }
    kept.roots[version] = rest.substr(0, root_bytes);
    rest.remove_prefix(root_bytes);
  }
  if (kept.roots.empty() || policy_bytes > wire::kMaxPolicyBytes || policy_bytes != rest.size()) {
    return damaged;
  }
  kept.policy = rest;
  return kept;
}

FieldPolicy LoadFieldPolicy(const settings::AgentPaths& paths, WallTime now) {
  FieldPolicy policy;
  const auto pinned = ReadFile(paths.catalog_root_file, catalog::kMaxRootBytes);
  if (!pinned) return policy;  // without a root there was never a policy
  policy.problem = LoadCheck(paths).problem;
  const auto kept = LoadKept(paths, *pinned);
  if (!kept) {
    policy.problem = kept.error().message;
    return policy;
  }
  if (kept->policy.empty()) return policy;
  const Status verified = Verify(*kept, now, policy);
  if (!verified) policy.problem = verified.error().message;
  return policy;
}

Result<settings::AgentConfig> LoadConfigInForce(const settings::AgentPaths& paths, WallTime now) {
  FIELDCOST_ASSIGN(settings::AgentConfig config, settings::AgentConfig::Load(paths));
  if (!config.download_policy) return config;
  const FieldPolicy policy = LoadFieldPolicy(paths, now);
  return policy.in_force ? ApplyPolicy(std::move(config), *policy.in_force) : std::move(config);
}

Result<bool> FetchFieldPolicy(const settings::AgentPaths& paths,
                              const settings::AgentConfig& config, WallTime now) {
  if (!config.download_policy || config.url.empty() || !IsCheckDue(paths, now)) return false;
  const auto pinned = ReadFile(paths.catalog_root_file, catalog::kMaxRootBytes);
  if (!pinned) {
    if (pinned.error().code == ErrorCode::kNotFound) return false;
    return Within(pinned.error(), "read the catalogue's pinned root");
  }
  FIELDCOST_ASSIGN(const auto lock, upload::UploadLock::Take(paths, std::chrono::milliseconds(0)));
  if (!lock || !IsCheckDue(paths, now)) return false;
  // Saved before the first byte is sent: at most one check per day, successful or not.
  FIELDCOST_TRY(SaveCheck(paths, now, ""));
  auto loaded = LoadKept(paths, *pinned);
  // A damaged file has lost the highest version; start again as on the first fetch.
  auto before = loaded ? Result<KeptPolicy>(*loaded) : Fresh(*pinned);
  if (!before) {
    FIELDCOST_TRY(SaveCheck(paths, now, before.error().message));
    return before.error();
  }
  KeptPolicy kept = *before;
  FIELDCOST_ASSIGN(http::Client client,
                   upload::ConnectToService(
                       config, [&paths] { return settings::CheckMaySend(paths); },
                       std::max(wire::kMaxPolicyBytes, catalog::kMaxRootBytes)));
  const Status fetched = Fetch(client, paths, now, *pinned, kept);
  const bool is_new = kept != *before || !loaded;
  if (is_new) FIELDCOST_TRY(SaveKept(paths, kept));
  if (!fetched) {
    FIELDCOST_TRY(SaveCheck(paths, now, fetched.error().message));
    return fetched.error();
  }
  return is_new;
}

}  // namespace fieldcost::policy

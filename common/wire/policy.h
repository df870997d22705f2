#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/crypto/ed25519.h"
#include "common/wire/metadata.h"

namespace fieldcost::wire {

// A library that may be measured and sent.
struct PolicyModule {
  std::string soname;   // "libz.so.1"
  std::string package;  // Debian binary package that must own its file; empty = any package
  bool operator==(const PolicyModule&) const = default;
};

// The weight of an API in a pick, in addition to the local catalogue's; 65536 = full weight.
struct PolicyWeight {
  std::string soname;
  std::string symbol;
  std::uint32_t weight_per_65536 = 0;
  bool operator==(const PolicyWeight&) const = default;
};

// The service operator's measurement settings for agents: signed metadata of role "policy". The
// agent decides about absent settings. An agent's user may be stricter, and an agent has limits of
// its own, which no policy can raise (agent/policy/field_policy.h).
struct PolicyMetadata {
  std::uint64_t version = 0;
  WallTime expires{};
  WallTime published{};

  std::optional<std::uint32_t> selection_per_65536;
  std::optional<std::uint32_t> picks_per_run;
  std::optional<std::uint32_t> alloc_per_65536;
  std::optional<std::uint32_t> io_per_65536;
  std::optional<std::uint32_t> cycles_per_65536;
  std::optional<std::uint32_t> max_programs;
  std::optional<std::uint32_t> max_load_per_core_percent;
  std::optional<std::uint32_t> max_cpu_pressure_percent;
  std::optional<std::uint32_t> overhead_per_65536;
  std::optional<std::uint32_t> max_run_files;
  std::optional<std::uint32_t> phase_seconds;
  std::optional<std::uint32_t> max_phases;
  std::optional<std::uint32_t> sampling_log2;
  std::optional<std::uint32_t> max_batch_bytes;
  std::optional<std::uint32_t> max_batch_age_hours;
  std::optional<std::uint32_t> min_upload_interval_seconds;  // between two requests of an agent

  std::vector<PolicyModule> modules;  // ascending by soname; empty = the agent's built-in list
  std::vector<PolicyWeight> weights;  // ascending by soname and symbol
  bool operator==(const PolicyMetadata&) const = default;
};

// One of the numbers above: its name in texts and files, and its range.
struct PolicyNumber {
  std::string_view name;
  std::optional<std::uint32_t> PolicyMetadata::*member;
  std::uint32_t min;
  std::uint32_t max;
};
std::span<const PolicyNumber> PolicyNumbers();

// kCorrupt, with the reason, unless every number is within its range, every text follows the rules
// for row keys, and the lists ascend without duplicates and respect wire_limits.h.
Status ValidatePolicy(const PolicyMetadata& untrusted_policy);

// Agents accept it only if ValidatePolicy() does.
std::string SignPolicy(const PolicyMetadata& policy, const crypto::PrivateKey& key);

// kUnauthenticated if none of the root's policy keys signed it; kCorrupt if it is malformed, of
// another role, or exceeds a limit of wire_limits.h. The caller must check version and expiry.
Result<PolicyMetadata> VerifyPolicy(std::string_view untrusted_bytes, const RootMetadata& root);

}  // namespace fieldcost::wire

#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/wire/policy.h"

namespace fieldcost::publish {

inline constexpr char kPolicyFile[] = "policy";  // in Publisher::directory()
// Created next to it by a restore: the version that the next policy must exceed, in decimal.
inline constexpr char kPolicyFloorFile[] = "policy_floor";

// Returns the policy in force; nullopt if there is none. kCorrupt or kUnauthenticated, naming the
// file, unless some root on disk names its key. The caller must check expiry.
Result<std::optional<wire::PolicyMetadata>> PublishedPolicy(const std::filesystem::path& data_dir);

// Call after a restore from a backup: makes the next policy's version kRestoredVersionGap above the
// known one, so that agents that have seen later versions accept it.
Status LeavePolicyVersionGap(const std::filesystem::path& data_dir);

// Signs `policy` with policy.key of `offline_dir` (empty: of data_dir/keys), with the next version,
// valid for `lifetime` from now, and puts it into force; a running server serves it immediately.
// Returns the signed policy. kNotFound: no root yet, or the newest one names no policy key, or its
// file is missing; kCorrupt: see wire::ValidatePolicy(). Concurrent calls take turns.
Result<wire::PolicyMetadata> PublishPolicy(const std::filesystem::path& data_dir,
                                           wire::PolicyMetadata policy,
                                           std::chrono::seconds lifetime, const Clock& clock,
                                           const std::filesystem::path& offline_dir = {});

}  // namespace fieldcost::publish

#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/wire/policy.h"

namespace fieldcost::publish {

inline constexpr char kPolicyFile[] = "policy";  // in Publisher::directory()
// Beside it after a restoration: the version that the next policy has to exceed, in decimal.
inline constexpr char kPolicyFloorFile[] = "policy_floor";

// The policy in force; nullopt if there is none. kCorrupt or kUnauthenticated, naming the file, if
// it is not one that any root on disk vouches for. Expiry is the caller's to check.
Result<std::optional<wire::PolicyMetadata>> PublishedPolicy(const std::filesystem::path& data_dir);

// To be called after a restoration from a backup: makes the next policy's version
// kRestoredVersionGap above what is known, so that agents that have seen later ones accept it.
Status LeavePolicyVersionGap(const std::filesystem::path& data_dir);

// Signs `policy` with policy.key of `offline_dir` (empty: of data_dir/keys), with the next version,
// valid for `lifetime` from now, and puts it in place of the one in force; a server that is running
// serves it at once. Returns what it signed. kNotFound: no root yet, or the newest one names no
// policy key, or its file is missing; kCorrupt: see wire::ValidatePolicy(). Several at a time take
// turns.
Result<wire::PolicyMetadata> PublishPolicy(const std::filesystem::path& data_dir,
                                           wire::PolicyMetadata policy,
                                           std::chrono::seconds lifetime, const Clock& clock,
                                           const std::filesystem::path& offline_dir = {});

}  // namespace fieldcost::publish

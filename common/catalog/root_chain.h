#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/http/client.h"
#include "common/wire/metadata.h"

namespace fieldcost::catalog {

// The first step of every client of signed metadata (The Update Framework 1.0 §5.3): the catalogue
// (metadata_update.h) and the agent's policy (agent/policy/field_policy.h).

inline constexpr int kMaxRootUpdates = 64;  // per update; a longer chain continues the next time
inline constexpr std::size_t kMaxRootBytes = 64 * kKiB;

// GETs `path`. kNotFound on 404, kUnavailable on any other status but 200, kTooLarge if the body is
// longer than `max_bytes`. `what` names it in messages.
Result<std::string> Fetch(http::Client& client, const std::string& path, std::size_t max_bytes,
                          std::string_view what);

struct TrustedRoot {
  wire::RootMetadata metadata;
  std::string bytes;  // signed
};

// Starts from a trusted root (pinned or stored; it names its own keys) and follows root N+1, N+2,
// ... as long as the server has one. Each must be signed by the keys of its predecessor and by its
// own, and have exactly that version; the last must not have expired. Callers that record the
// versions seen must forget them if a role's keys have changed: they may come from stolen keys.
Result<TrustedRoot> FollowRootChain(http::Client& client, std::string trusted_bytes, WallTime now);

// kUnauthenticated if `what` has expired, which may indicate a freeze attack.
Status CheckExpiry(std::string_view what, WallTime expires, WallTime now);
// kUnauthenticated if the version is lower than one seen before.
Status CheckNotLower(std::string_view what, std::uint64_t untrusted_version, std::uint64_t seen);

}  // namespace fieldcost::catalog

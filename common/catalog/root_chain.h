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

// What every client of signed metadata does first, after The Update Framework 1.0 §5.3: the
// catalogue (metadata_update.h) and the agent's policy (agent/policy/field_policy.h).

inline constexpr int kMaxRootUpdates = 64;  // at once; a longer chain continues the next time
inline constexpr std::size_t kMaxRootBytes = 64 * kKiB;

// GETs `path`. kNotFound on 404, kUnavailable on any other status but 200, kTooLarge if the body is
// longer than `max_bytes`. `what` names it in messages.
Result<std::string> Fetch(http::Client& client, const std::string& path, std::size_t max_bytes,
                          std::string_view what);

struct TrustedRoot {
  wire::RootMetadata metadata;
  std::string bytes;  // signed
};

// Begins with a root that is trusted (as pinned or as kept: it names its own keys), follows root
// N+1, N+2, ... while the server has them. Each must be signed by the keys of the one before and by
// its own, and have exactly that version; the last must not have expired. Whoever keeps versions
// seen must forget them if a role's keys have changed: they may have been a thief's.
Result<TrustedRoot> FollowRootChain(http::Client& client, std::string trusted_bytes, WallTime now);

// kUnauthenticated if `what` has expired, which is how being held back (a freeze attack) shows.
Status CheckExpiry(std::string_view what, WallTime expires, WallTime now);
// kUnauthenticated if the version is below one that was seen before.
Status CheckNotLower(std::string_view what, std::uint64_t untrusted_version, std::uint64_t seen);

}  // namespace fieldcost::catalog

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/http/client.h"
#include "common/wire/metadata.h"

namespace fieldcost::catalog {

// The first step of every client of signed metadata (The Update Framework 1.0 §5.3): the catalogue
// (metadata_update.h) and the agent's policy (agent/policy/field_policy.h).

inline constexpr int kMaxRootUpdates = 256;  // per update; a longer chain continues the next time
inline constexpr std::size_t kMaxRootBytes = 64 * kKiB;

// GETs `path`. kNotFound on 404 and 410, and on 403, with which object stores answer for files that
// do not exist; kUnavailable on any other status but 200. The download is cut off at `max_bytes`
// (kTooLarge). `what` names it in messages.
Result<std::string> Fetch(http::Client& client, const std::string& path, std::size_t max_bytes,
                          std::string_view what);
// Its error for another status than 200.
Error NotServed(int status, std::string_view server, std::string_view path, std::string_view what);
// Fetch() from a source that it knows.
using FetchFile = std::function<Result<std::string>(const std::string& path, std::size_t max_bytes,
                                                    std::string_view what)>;
// `client` must outlive the result.
FetchFile FetchFrom(http::Client& client);

struct TrustedRoot {
  wire::RootMetadata metadata;
  std::string bytes;  // signed
};

// A client's trust before an update.
struct RootChain {
  // The root that was obtained securely, where each update starts; empty: the oldest kept one.
  std::string pinned;
  std::map<std::uint64_t, std::string> kept;  // by version: signed, saved by earlier updates
  // Saves a root that is not in `kept` as soon as it is verified, because an update that fails
  // later must not discard it. Called in order of versions. If the keys of a role differ from those
  // of the newest root saved before, the callee must forget which versions of this role it has
  // seen: they may come from stolen keys. Null = nothing is saved.
  std::function<Status(const TrustedRoot&)> save;
};

// Starts from the pinned root (it names its own keys) and follows root N+1, N+2, ... through those
// kept and then through those fetched, as long as there is one. Each must be signed by the keys of
// its predecessor and by its own, and have exactly that version; only the last must not have
// expired. kUnauthenticated also if the pinned root differs from the kept one of its version, or if
// the chain ends before the newest kept root.
Result<TrustedRoot> FollowRootChain(const FetchFile& fetch, const RootChain& chain, WallTime now);

// Whether the two lists have different keys, in any order.
bool KeysDiffer(const std::vector<crypto::PublicKey>& left,
                const std::vector<crypto::PublicKey>& right);

// kUnauthenticated if `what` has expired, which may indicate a freeze attack.
Status CheckExpiry(std::string_view what, WallTime expires, WallTime now);
// kUnauthenticated if the version is lower than one seen before.
Status CheckNotLower(std::string_view what, std::uint64_t untrusted_version, std::uint64_t seen);
// The error if one version has had two contents.
Error DifferentContent(std::string_view what, std::uint64_t version);

}  // namespace fieldcost::catalog

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/wire/wire_limits.h"

namespace fieldcost::wire {

// The files that clients and agents fetch, as paths under the service's address. Server, client and
// `publish --to` share them. A disk can hold them as they are: no path is both a file and a
// directory, so any web server or object store can serve them.
inline constexpr char kTimestampPath[] = "/v1/timestamp";
inline constexpr char kPolicyPath[] = "/v1/policy";     // absent if the service has no policy
inline constexpr char kRootPath[] = "/v1/root/newest";  // a copy of the newest root
std::string RootVersionPath(std::uint64_t version);     // /v1/root/<version>
std::string SnapshotPath(std::string_view sha256);      // /v1/snapshot/<hex>
std::string FragmentPath(std::string_view sha256);      // /v1/fragment/<hex>

enum class PublicKind : std::uint8_t {
  kTimestamp,
  kPolicy,
  kNewestRoot,
  kRoot,
  kSnapshot,
  kFragment,
};

struct PublicPath {
  PublicKind kind;
  std::string_view folder;    // up to the last slash, including it
  std::string_view name;      // the only name in it; empty: see `kind`
  std::size_t max_bytes;      // of the file
  bool is_immutable;          // the content of an address never changes
  bool is_named_by_its_hash;  // SHA-256, 64 lower-case digits
};
// A fixed name precedes the other names of its folder.
inline constexpr std::array kPublicPaths = std::to_array<PublicPath>({
    {PublicKind::kTimestamp, "/v1/", "timestamp", kMaxMetadataBytes, false, false},
    {PublicKind::kPolicy, "/v1/", "policy", kMaxPolicyBytes, false, false},
    {PublicKind::kNewestRoot, "/v1/root/", "newest", kMaxMetadataBytes, false, false},
    {PublicKind::kRoot, "/v1/root/", "", kMaxMetadataBytes, true, false},
    {PublicKind::kSnapshot, "/v1/snapshot/", "", kMaxMetadataBytes, true, true},
    {PublicKind::kFragment, "/v1/fragment/", "", kMaxFragmentBytes, true, true},
});

struct PublicName {
  const PublicPath* path = nullptr;  // never null
  std::string_view name;             // the last part of the parsed path: a version or a hash
  std::uint64_t version = 0;         // of kRoot
};

// The file that a path names; nullopt unless it is exactly one of the paths above. The result
// refers to the argument.
std::optional<PublicName> ParsePublicPath(std::string_view untrusted_path);

}  // namespace fieldcost::wire

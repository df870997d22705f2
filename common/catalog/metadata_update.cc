#include "common/catalog/metadata_update.h"

#include "common/base/file.h"
#include "common/crypto/sha256.h"

namespace fieldcost::catalog {
namespace {

constexpr int kMaxRootUpdates = 64;  // per sync; a longer chain continues with the next one
constexpr std::size_t kMaxRootBytes = 64 * kKiB;
constexpr std::size_t kMaxTimestampBytes = 16 * kKiB;
constexpr std::string_view kOutdated = "the server's data is outdated or somebody holds it back";

std::string Day(WallTime time) {
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(time));
  return fmt::format("{:04}-{:02}-{:02}", int{day.year()}, unsigned{day.month()},
                     unsigned{day.day()});
}

Status CheckExpiry(std::string_view what, WallTime expires, WallTime now) {
  if (now < expires) return {};
  return Fail(ErrorCode::kUnauthenticated, "{} expired on {}: {}", what, Day(expires), kOutdated);
}

Status CheckNotLower(std::string_view what, std::uint64_t untrusted_version, std::uint64_t stored) {
  if (untrusted_version >= stored) return {};
  return Fail(ErrorCode::kUnauthenticated,
              "{} has version {}, but version {} was seen before (rollback)", what,
              untrusted_version, stored);
}

Status Save(sqlite::Database& database, const SyncState& state) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(database));
  FIELDCOST_TRY(SaveState(database, state));
  return transaction.Commit();
}

Result<wire::RootMetadata> TrustedRoot(const SyncState& state,
                                       const std::filesystem::path& pinned_root,
                                       std::string& bytes) {
  bytes = state.root;
  if (bytes.empty()) {
    auto pinned = ReadFile(pinned_root, kMaxRootBytes);
    if (!pinned) return Within(pinned.error(), "read the catalogue's pinned root");
    bytes = std::move(*pinned);
  }
  auto root = wire::VerifyPinnedRoot(bytes);
  if (!root) return Within(root.error(), "verify the catalogue's trusted root");
  return root;
}

// Follows root N+1, N+2, ... while the server has them. `root` and `bytes` become the newest.
Status FollowRootChain(http::Client& client, wire::RootMetadata& root, std::string& bytes) {
  for (int step = 0; step < kMaxRootUpdates; ++step) {
    const std::string what = fmt::format("root metadata version {}", root.version + 1);
    auto untrusted = Fetch(client, wire::RootVersionPath(root.version + 1), kMaxRootBytes, what);
    if (!untrusted && untrusted.error().code == ErrorCode::kNotFound) return {};
    if (!untrusted) return untrusted.error();
    auto next = wire::VerifyRoot(*untrusted, root.root_keys, root.root_threshold);
    if (!next) return Within(next.error(), what + " against the trusted root's keys");
    auto by_own = wire::VerifyPinnedRoot(*untrusted);
    if (!by_own) return Within(by_own.error(), what + " against its own keys");
    if (next->version != root.version + 1) {
      return Fail(ErrorCode::kUnauthenticated, "{} says it is version {}", what, next->version);
    }
    root = std::move(*next);
    bytes = std::move(*untrusted);
  }
  return {};
}

Result<wire::RootMetadata> UpdateRoot(http::Client& client, sqlite::Database& database,
                                      SyncState& state, const std::filesystem::path& pinned_root,
                                      WallTime now) {
  std::string bytes;
  FIELDCOST_ASSIGN(const wire::RootMetadata trusted, TrustedRoot(state, pinned_root, bytes));
  wire::RootMetadata root = trusted;
  FIELDCOST_TRY(FollowRootChain(client, root, bytes));
  FIELDCOST_TRY(CheckExpiry("root metadata", root.expires, now));
  if (bytes != state.root) {
    state.root = std::move(bytes);
    // Whoever held a replaced key may have published absurdly high versions (fast-forward attack).
    if (root.timestamp_keys != trusted.timestamp_keys) state.timestamp_version = 0;
    if (root.snapshot_keys != trusted.snapshot_keys) {
      state.timestamp_version = 0;
      state.snapshot_version = 0;
      state.snapshot_sha256.clear();
    }
    FIELDCOST_TRY(Save(database, state));
  }
  return root;
}

Result<wire::TimestampMetadata> UpdateTimestamp(http::Client& client, sqlite::Database& database,
                                                SyncState& state, const wire::RootMetadata& root,
                                                WallTime now) {
  FIELDCOST_ASSIGN(const std::string untrusted_bytes,
                   Fetch(client, wire::kTimestampPath, kMaxTimestampBytes, "timestamp metadata"));
  auto timestamp = wire::VerifyTimestamp(untrusted_bytes, root);
  if (!timestamp) return Within(timestamp.error(), "timestamp metadata");
  FIELDCOST_TRY(CheckNotLower("timestamp metadata", timestamp->version, state.timestamp_version));
  FIELDCOST_TRY(
      CheckNotLower("the current snapshot", timestamp->snapshot_version, state.snapshot_version));
  FIELDCOST_TRY(CheckExpiry("timestamp metadata", timestamp->expires, now));
  if (timestamp->version != state.timestamp_version) {
    state.timestamp_version = timestamp->version;
    FIELDCOST_TRY(Save(database, state));
  }
  return timestamp;
}

Result<wire::SnapshotMetadata> FetchSnapshot(http::Client& client, const wire::RootMetadata& root,
                                             const wire::TimestampMetadata& timestamp) {
  if (timestamp.snapshot_bytes > wire::kMaxMetadataBytes) {
    return Fail(ErrorCode::kTooLarge, "snapshot metadata has {} bytes", timestamp.snapshot_bytes);
  }
  FIELDCOST_ASSIGN(const std::string untrusted_bytes,
                   Fetch(client, wire::SnapshotPath(timestamp.snapshot_sha256),
                         timestamp.snapshot_bytes, "snapshot metadata"));
  if (untrusted_bytes.size() != timestamp.snapshot_bytes ||
      crypto::Sha256(untrusted_bytes) != timestamp.snapshot_sha256) {
    return Fail(ErrorCode::kUnauthenticated,
                "snapshot metadata is not the one that the timestamp names (mix-and-match)");
  }
  auto snapshot = wire::VerifySnapshot(untrusted_bytes, root);
  if (!snapshot) return Within(snapshot.error(), "snapshot metadata");
  if (snapshot->version != timestamp.snapshot_version) {
    return Fail(ErrorCode::kUnauthenticated,
                "snapshot metadata has version {}, the timestamp names version {} (mix-and-match)",
                snapshot->version, timestamp.snapshot_version);
  }
  if (snapshot->fragment_bits > wire::kMaxFragmentBits ||
      snapshot->fragments.size() != std::size_t{1} << snapshot->fragment_bits) {
    return Fail(ErrorCode::kCorrupt, "snapshot metadata lists {} fragments for {} bits",
                snapshot->fragments.size(), snapshot->fragment_bits);
  }
  return snapshot;
}

}  // namespace

Result<std::string> Fetch(http::Client& client, const std::string& path, std::size_t max_bytes,
                          std::string_view what) {
  http::Request request;
  request.target = path;
  auto response = client.Send(request);
  if (!response) return Within(response.error(), fmt::format("fetch {}", what));
  if (response->status == 404) {
    return Fail(ErrorCode::kNotFound, "fetch {}: {} has no {}", what, client.origin(), path);
  }
  if (response->status != 200) {
    return Fail(ErrorCode::kUnavailable, "fetch {}: {} answered {}", what, client.origin(),
                response->status);
  }
  if (response->body.size() > max_bytes) {
    return Fail(ErrorCode::kTooLarge, "{} has {} bytes, at most {} are allowed", what,
                response->body.size(), max_bytes);
  }
  return std::move(response->body);
}

Result<std::optional<wire::SnapshotMetadata>> UpdateMetadata(
    http::Client& client, sqlite::Database& database, SyncState& state,
    const std::filesystem::path& pinned_root, WallTime now) {
  FIELDCOST_ASSIGN(const wire::RootMetadata root,
                   UpdateRoot(client, database, state, pinned_root, now));
  FIELDCOST_ASSIGN(const wire::TimestampMetadata timestamp,
                   UpdateTimestamp(client, database, state, root, now));
  if (timestamp.snapshot_sha256 == state.snapshot_sha256) {
    FIELDCOST_TRY(CheckExpiry("snapshot metadata", state.snapshot_expires, now));
    return std::optional<wire::SnapshotMetadata>();
  }
  FIELDCOST_ASSIGN(wire::SnapshotMetadata snapshot, FetchSnapshot(client, root, timestamp));
  FIELDCOST_TRY(CheckExpiry("snapshot metadata", snapshot.expires, now));
  state.snapshot_version = snapshot.version;
  state.snapshot_sha256 = timestamp.snapshot_sha256;
  state.snapshot_expires = snapshot.expires;
  state.snapshot_published = snapshot.published;
  state.contribution_threshold = snapshot.contribution_threshold;
  state.synthetic = snapshot.synthetic;
  return std::optional<wire::SnapshotMetadata>(std::move(snapshot));
}

}  // namespace fieldcost::catalog

#include "common/catalog/metadata_update.h"

#include <functional>
#include <map>

#include "common/base/file.h"
#include "common/catalog/root_chain.h"
#include "common/crypto/sha256.h"

namespace fieldcost::catalog {
namespace {

constexpr std::size_t kMaxTimestampBytes = 16 * kKiB;

Status Save(sqlite::Database& database, const SyncState& state) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(database));
  FIELDCOST_TRY(SaveState(database, state));
  return transaction.Commit();
}

// The pinned root; empty if it is missing, which only the first sync needs it to be.
Result<std::string> PinnedRoot(const std::filesystem::path& file, bool is_first_sync) {
  auto pinned = ReadFile(file, kMaxRootBytes);
  if (pinned) return pinned;
  if (pinned.error().code != ErrorCode::kNotFound) {
    return Within(pinned.error(), "read the catalogue's pinned root");
  }
  if (!is_first_sync) return std::string();
  return Fail(ErrorCode::kNotFound,
              "catalog_root, which verifies the server's signatures, is missing: get it from the "
              "server's operator, and put it at {}",
              file.string());
}

// Saves the roots that FollowRootChain() verifies, and forgets versions seen under replaced keys.
class RootSaver {
 public:
  RootSaver(sqlite::Database& database, SyncState& state) : database_(database), state_(state) {}

  // Loads the roots saved earlier.
  Result<std::map<std::uint64_t, std::string>> Load() {
    FIELDCOST_ASSIGN(auto roots, LoadRoots(database_));
    if (roots.empty()) return roots;
    auto newest = wire::VerifyPinnedRoot(roots.rbegin()->second);
    if (!newest) return Within(newest.error(), "verify the catalogue's newest root");
    newest_ = std::move(*newest);
    return roots;
  }

  Status operator()(const TrustedRoot& root) {
    if (root.metadata.version > newest_.version) {
      // A stolen key may have published absurdly high versions (fast-forward attack). Each root is
      // compared with its predecessor: keys that were replaced and then used again count, too.
      if (KeysDiffer(root.metadata.timestamp_keys, newest_.timestamp_keys) ||
          KeysDiffer(root.metadata.snapshot_keys, newest_.snapshot_keys)) {
        state_.timestamp_version = 0;
        state_.timestamp_sha256.clear();
        state_.snapshot_floor = 0;
      }
      newest_ = root.metadata;
    }
    FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
    FIELDCOST_TRY(SaveRoot(database_, root.metadata.version, root.bytes));
    FIELDCOST_TRY(SaveState(database_, state_));
    return transaction.Commit();
  }

 private:
  sqlite::Database& database_;
  SyncState& state_;
  wire::RootMetadata newest_;  // of the saved ones; version 0 = none
};

Result<wire::RootMetadata> UpdateRoot(MirrorConnection& mirror, sqlite::Database& database,
                                      SyncState& state, const std::filesystem::path& pinned_root,
                                      WallTime now) {
  RootSaver saver(database, state);
  RootChain chain;
  FIELDCOST_ASSIGN(chain.kept, saver.Load());
  FIELDCOST_ASSIGN(chain.pinned, PinnedRoot(pinned_root, chain.kept.empty()));
  chain.save = std::ref(saver);
  const FetchFile fetch = [&mirror](const std::string& path, std::size_t max_bytes,
                                    std::string_view what) {
    return mirror.Fetch(path, max_bytes, what);
  };
  FIELDCOST_ASSIGN(TrustedRoot root, FollowRootChain(fetch, chain, now));
  return std::move(root.metadata);
}

Result<wire::TimestampMetadata> UpdateTimestamp(MirrorConnection& mirror,
                                                sqlite::Database& database, SyncState& state,
                                                const wire::RootMetadata& root, WallTime now) {
  const auto fetched = mirror.Fetch(wire::kTimestampPath, kMaxTimestampBytes, "timestamp metadata");
  if (!fetched && fetched.error().code == ErrorCode::kNotFound) {
    if (!mirror.current().directory.empty()) {
      return Within(fetched.error(),
                    "expected a tree that fieldcost-aggregator publish --to wrote");
    }
    return Fail(ErrorCode::kNotFound,
                "{} has published nothing yet: a server publishes when it starts; try again later",
                mirror.current().Name());
  }
  FIELDCOST_ASSIGN(const std::string untrusted_bytes, fetched);
  auto timestamp = wire::VerifyTimestamp(untrusted_bytes, root);
  if (!timestamp) return Within(timestamp.error(), "timestamp metadata");
  FIELDCOST_TRY(CheckNotLower("timestamp metadata", timestamp->version, state.timestamp_version));
  FIELDCOST_TRY(
      CheckNotLower("the current snapshot", timestamp->snapshot_version, state.snapshot_floor));
  std::string sha256 = crypto::Sha256(untrusted_bytes);
  if (timestamp->version == state.timestamp_version && !state.timestamp_sha256.empty() &&
      sha256 != state.timestamp_sha256) {
    return DifferentContent("timestamp metadata", timestamp->version);
  }
  if (state.snapshot_floor != 0 && timestamp->snapshot_version == state.snapshot_floor &&
      timestamp->snapshot_sha256 != state.snapshot_sha256) {
    return DifferentContent("snapshot metadata", timestamp->snapshot_version);
  }
  FIELDCOST_TRY(CheckExpiry("timestamp metadata", timestamp->expires, now));
  if (timestamp->version != state.timestamp_version) {
    state.timestamp_version = timestamp->version;
    state.timestamp_sha256 = std::move(sha256);
    state.refresh.period = std::chrono::seconds(timestamp->refresh_seconds);
    FIELDCOST_TRY(Save(database, state));
  }
  return timestamp;
}

Result<wire::SnapshotMetadata> FetchSnapshot(MirrorConnection& mirror,
                                             const wire::RootMetadata& root,
                                             const wire::TimestampMetadata& timestamp) {
  if (timestamp.snapshot_bytes > wire::kMaxMetadataBytes) {
    return Fail(ErrorCode::kTooLarge, "snapshot metadata has {} bytes", timestamp.snapshot_bytes);
  }
  std::string part;
  FIELDCOST_ASSIGN(const std::string untrusted_bytes,
                   mirror.FetchNamed({.path = wire::SnapshotPath(timestamp.snapshot_sha256),
                                      .size_bytes = timestamp.snapshot_bytes,
                                      .sha256 = timestamp.snapshot_sha256,
                                      .what = "snapshot metadata",
                                      .named_by = "timestamp"},
                                     part));
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

Result<std::optional<wire::SnapshotMetadata>> UpdateMetadata(
    MirrorConnection& mirror, sqlite::Database& database, SyncState& state,
    const std::filesystem::path& pinned_root, WallTime now) {
  FIELDCOST_ASSIGN(const wire::RootMetadata root,
                   UpdateRoot(mirror, database, state, pinned_root, now));
  FIELDCOST_ASSIGN(const wire::TimestampMetadata timestamp,
                   UpdateTimestamp(mirror, database, state, root, now));
  if (state.snapshot_floor != 0 && timestamp.snapshot_version == state.snapshot_floor) {
    FIELDCOST_TRY(CheckExpiry("snapshot metadata", state.snapshot_expires, now));
    return std::optional<wire::SnapshotMetadata>();
  }
  FIELDCOST_ASSIGN(wire::SnapshotMetadata snapshot, FetchSnapshot(mirror, root, timestamp));
  FIELDCOST_TRY(CheckExpiry("snapshot metadata", snapshot.expires, now));
  state.snapshot_floor = snapshot.version;
  state.snapshot_version = snapshot.version;
  state.snapshot_sha256 = timestamp.snapshot_sha256;
  state.snapshot_expires = snapshot.expires;
  state.snapshot_published = snapshot.published;
  state.contribution_threshold = snapshot.contribution_threshold;
  state.synthetic = snapshot.synthetic;
  return std::optional<wire::SnapshotMetadata>(std::move(snapshot));
}

}  // namespace fieldcost::catalog

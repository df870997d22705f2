#include "aggregator/publish/key_ring.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "aggregator/publish/publish_limits.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/wire/batch.h"

namespace fieldcost::publish {
namespace {

// The versions in the names of the directory's files, unordered.
Result<std::vector<std::uint64_t>> Versions(const std::filesystem::path& root_dir) {
  std::vector<std::uint64_t> versions;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator(root_dir, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const auto version = ParseUint64(it->path().filename().string());
    if (version) versions.push_back(*version);
  }
  if (error) return ErrnoError("list", root_dir, error.value());
  return versions;
}

// The highest version; nullopt if there is none.
Result<std::optional<std::uint64_t>> NewestVersion(const std::filesystem::path& root_dir) {
  FIELDCOST_ASSIGN(const std::vector<std::uint64_t> versions, Versions(root_dir));
  const auto newest = std::ranges::max_element(versions);
  return newest == versions.end() ? std::nullopt : std::optional(*newest);
}

Status CreateFirstRoot(const std::filesystem::path& keys_dir, const std::filesystem::path& root_dir,
                       const wire::OperatorStatement& operated_by, const Clock& clock) {
  FIELDCOST_ASSIGN(const auto root_key, crypto::PrivateKey::LoadOrCreate(keys_dir / kRootKey));
  FIELDCOST_ASSIGN(const auto timestamp,
                   crypto::PrivateKey::LoadOrCreate(keys_dir / kTimestampKey));
  FIELDCOST_ASSIGN(const auto snapshot, crypto::PrivateKey::LoadOrCreate(keys_dir / kSnapshotKey));
  FIELDCOST_ASSIGN(const auto policy, crypto::PrivateKey::LoadOrCreate(keys_dir / kPolicyKey));
  wire::RootMetadata root;
  root.version = 1;
  root.expires = clock.Now() + kRootLifetime;
  root.root_keys = {root_key.public_key()};
  root.timestamp_keys = {timestamp.public_key()};
  root.snapshot_keys = {snapshot.public_key()};
  root.policy_keys = {policy.public_key()};
  root.operated_by = operated_by;
  FIELDCOST_TRY(WriteFileAtomically(root_dir / "1", wire::SignRoot(root, {root_key}), 0644));
  LogInfo("made the signing keys and root version 1");
  return {};
}

}  // namespace

Result<crypto::PrivateKey> KeyRing::LoadKey(const std::filesystem::path& path,
                                            const std::vector<crypto::PublicKey>& trusted,
                                            std::uint64_t root_version) {
  // nullopt: no such file, or the root does not name the key.
  const auto load_trusted =
      [&](const std::filesystem::path& file) -> Result<std::optional<crypto::PrivateKey>> {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return std::optional<crypto::PrivateKey>();
    FIELDCOST_ASSIGN(const auto key, crypto::PrivateKey::LoadOrCreate(file));
    if (std::find(trusted.begin(), trusted.end(), key.public_key()) == trusted.end()) {
      return std::optional<crypto::PrivateKey>();
    }
    return std::optional(key);
  };
  FIELDCOST_ASSIGN(const auto key, load_trusted(path));
  if (key) return *key;
  std::filesystem::path waiting = path;
  waiting += kNextKeySuffix;
  FIELDCOST_ASSIGN(const auto next, load_trusted(waiting));
  if (next) {
    // Another process may be doing the same.
    if (::rename(waiting.c_str(), path.c_str()) != 0 && errno != ENOENT) {
      return ErrnoError("rename", waiting, errno);
    }
    FIELDCOST_TRY(SyncDirectory(path.parent_path()));
    return *next;
  }
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return Fail(ErrorCode::kNotFound, "signing key {} is missing, but root version {} names it",
                path.string(), root_version);
  }
  return Fail(ErrorCode::kUnauthenticated, "signing key {} is not one of root version {}",
              path.string(), root_version);
}

Result<wire::RootMetadata> KeyRing::NewestRoot(const std::filesystem::path& root_dir) {
  FIELDCOST_ASSIGN(const std::optional<std::uint64_t> version, NewestVersion(root_dir));
  if (!version) {
    return Fail(ErrorCode::kNotFound, "there is no root in {}; start the server once",
                root_dir.string());
  }
  const std::filesystem::path path = root_dir / std::to_string(*version);
  FIELDCOST_ASSIGN(const std::string bytes, ReadFile(path, wire::kMaxMetadataBytes));
  auto root = wire::VerifyPinnedRoot(bytes);
  if (!root) return Within(root.error(), path.string());
  return root;
}

Result<std::vector<wire::RootMetadata>> KeyRing::AllRoots(const std::filesystem::path& root_dir) {
  FIELDCOST_ASSIGN(wire::RootMetadata newest, NewestRoot(root_dir));
  std::vector<wire::RootMetadata> roots = {std::move(newest)};
  for (std::uint64_t version = roots.front().version; version-- > 1;) {
    const auto bytes = ReadFile(root_dir / std::to_string(version), wire::kMaxMetadataBytes);
    if (!bytes) continue;
    if (auto root = wire::VerifyPinnedRoot(*bytes)) roots.push_back(std::move(*root));
  }
  return roots;
}

Result<std::vector<std::string>> KeyRing::RootFingerprints(const std::filesystem::path& root_dir) {
  FIELDCOST_ASSIGN(const std::vector<std::uint64_t> versions, Versions(root_dir));
  std::vector<std::string> fingerprints;
  for (const std::uint64_t version : versions) {
    FIELDCOST_ASSIGN(const std::string bytes,
                     ReadFile(root_dir / std::to_string(version), wire::kMaxMetadataBytes));
    fingerprints.push_back(wire::RootFingerprint(bytes));
  }
  return fingerprints;
}

Result<KeyRing> KeyRing::LoadOrCreate(const std::filesystem::path& keys_dir,
                                      const std::filesystem::path& root_dir,
                                      const wire::OperatorStatement& operated_by,
                                      const Clock& clock) {
  FIELDCOST_TRY(MakeDirectories(keys_dir, 0700));
  FIELDCOST_TRY(MakeDirectories(root_dir, 0755));
  FIELDCOST_ASSIGN(const std::optional<std::uint64_t> version, NewestVersion(root_dir));
  if (!version) FIELDCOST_TRY(CreateFirstRoot(keys_dir, root_dir, operated_by, clock));
  auto root = NewestRoot(root_dir);
  if (!root) return root.error();
  if (root->expires <= clock.Now()) {
    LogWarning("root version {} has expired: clients refuse it; sign a new one", root->version);
  }
  if (root->operated_by != operated_by) {
    LogWarning(
        "root version {} names another operator than [operator] of the configuration: volunteers "
        "see the old name, contact and privacy text until you run fieldcost-aggregator keys renew",
        root->version);
  }
  if (root->policy_keys.empty()) {
    LogInfo(
        "root version {} names no policy key: agents accept no policy from this service until a "
        "newer root names one",
        root->version);
  }
  FIELDCOST_ASSIGN(const auto timestamp,
                   LoadKey(keys_dir / kTimestampKey, root->timestamp_keys, root->version));
  FIELDCOST_ASSIGN(const auto snapshot,
                   LoadKey(keys_dir / kSnapshotKey, root->snapshot_keys, root->version));
  return KeyRing(std::move(*root), timestamp, snapshot);
}

}  // namespace fieldcost::publish

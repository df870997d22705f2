#include "aggregator/publish/publication_files.h"

#include <utility>

#include "aggregator/publish/key_ring.h"
#include "aggregator/publish/policy_publisher.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::publish {
namespace {

using Path = std::filesystem::path;

Result<std::string> ReadTimestamp(const Path& directory) {
  auto bytes = ReadFile(directory / "timestamp", wire::kMaxMetadataBytes);
  if (!bytes && bytes.error().code == ErrorCode::kNotFound) {
    return Fail(ErrorCode::kNotFound,
                "nothing has been published yet in {}: run publish without --to first, or start "
                "the server",
                directory.string());
  }
  return bytes;
}

// Fills in the root whose keys have signed timestamp and snapshot. A newer root may already exist;
// clients must not follow it before something is signed with its keys.
Status FindSigningRoot(const std::vector<wire::RootMetadata>& roots, const Path& directory,
                       PublicationFiles& files) {
  const auto timestamp = VerifyByAny(roots, [&](const wire::RootMetadata& root) {
    return wire::VerifyTimestamp(files.timestamp_bytes, root);
  });
  if (!timestamp) return Within(timestamp.error(), (directory / "timestamp").string());
  files.timestamp = *timestamp;
  const Path snapshot_file = directory / "snapshots" / HexEncode(timestamp->snapshot_sha256);
  FIELDCOST_ASSIGN(files.snapshot_bytes, ReadFile(snapshot_file, wire::kMaxMetadataBytes));
  if (crypto::Sha256(files.snapshot_bytes) != timestamp->snapshot_sha256) {
    return Fail(ErrorCode::kCorrupt, "{}: its name is not the hash of its content; publish again",
                snapshot_file.string());
  }
  for (const wire::RootMetadata& root : roots) {
    auto snapshot = wire::VerifySnapshot(files.snapshot_bytes, root);
    if (!snapshot || !wire::VerifyTimestamp(files.timestamp_bytes, root)) continue;
    files.root = root;
    files.snapshot = std::move(*snapshot);
    return {};
  }
  return Fail(ErrorCode::kUnauthenticated,
              "{}: no root names the keys that signed this snapshot and its timestamp",
              snapshot_file.string());
}

}  // namespace

Result<PublicationFiles> LoadPublication(const Path& data_dir) {
  const Path directory = data_dir / "publish";
  PublicationFiles files;
  FIELDCOST_ASSIGN(files.timestamp_bytes, ReadTimestamp(directory));
  FIELDCOST_ASSIGN(const std::vector<wire::RootMetadata> roots,
                   KeyRing::AllRoots(directory / "root"));
  FIELDCOST_TRY(FindSigningRoot(roots, directory, files));
  for (std::uint64_t version = 1; version <= files.root.version; ++version) {
    const Path path = directory / "root" / std::to_string(version);
    FIELDCOST_ASSIGN(std::string bytes, ReadFile(path, wire::kMaxMetadataBytes));
    const auto root = wire::VerifyPinnedRoot(bytes);
    if (!root) return Within(root.error(), path.string());
    files.roots.push_back(std::move(bytes));
  }
  FIELDCOST_ASSIGN(const auto policy, PublishedPolicy(data_dir));
  if (policy) {
    FIELDCOST_ASSIGN(files.policy, ReadFile(directory / kPolicyFile, wire::kMaxPolicyBytes));
  }
  return files;
}

std::vector<std::string> FragmentNames(const wire::SnapshotMetadata& snapshot) {
  std::vector<std::string> names;
  names.reserve(snapshot.fragments.size());
  for (const wire::FragmentReference& fragment : snapshot.fragments) {
    names.push_back(HexEncode(fragment.sha256));
  }
  return names;
}

}  // namespace fieldcost::publish

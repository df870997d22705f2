#include "aggregator/publish/file_check.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "aggregator/publish/key_ring.h"
#include "aggregator/publish/policy_publisher.h"
#include "common/base/ascii.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/wire/metadata.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::publish {
namespace {

using Path = std::filesystem::path;

// Names of the files in a directory, ascending; none if the directory does not exist.
Result<std::vector<std::string>> NamesIn(const Path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  if (!std::filesystem::exists(directory, error)) return names;
  for (auto it = std::filesystem::directory_iterator(directory, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (error) return ErrnoError("list", directory, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

class FileCheck {
 public:
  explicit FileCheck(const Path& data_dir) : data_dir_(data_dir) {}

  Result<FileReport> Run() {
    FIELDCOST_TRY(CheckRoots());
    if (roots_.empty()) return report_;
    CheckKeys();
    CheckPolicy();
    FIELDCOST_TRY(CheckSnapshots());
    FIELDCOST_TRY(CheckFragments());
    CheckTimestamp();
    return report_;
  }

 private:
  Path published() const { return data_dir_ / "publish"; }

  void Note(Path path, std::string why, bool is_mended_by_publication) {
    report_.damaged.push_back({std::move(path), std::move(why), is_mended_by_publication});
  }

  // Returns the contents; nullopt, recording the damage, if they cannot be read.
  std::optional<std::string> Read(const Path& path, std::size_t most,
                                  bool is_mended_by_publication) {
    auto bytes = ReadFile(path, most);
    ++report_.files;
    if (!bytes) {
      Note(path, bytes.error().message, is_mended_by_publication);
      return std::nullopt;
    }
    report_.bytes += bytes->size();
    return std::move(*bytes);
  }

  Status CheckRoots() {
    const Path directory = published() / "root";
    FIELDCOST_ASSIGN(const std::vector<std::string> names, NamesIn(directory));
    std::set<std::uint64_t> versions;
    for (const std::string& name : names) {
      if (const auto version = ParseUint64(name)) versions.insert(*version);
    }
    const std::uint64_t newest = versions.empty() ? 0 : *versions.rbegin();
    for (std::uint64_t version = newest; version >= 1; --version) {
      const Path path = directory / std::to_string(version);
      const auto bytes = Read(path, wire::kMaxMetadataBytes, false);
      if (!bytes) continue;
      auto root = wire::VerifyPinnedRoot(*bytes);
      if (!root) {
        Note(path, root.error().message, false);
      } else if (root->version != version) {
        Note(path, "it has another version", false);
      } else {
        roots_.push_back(std::move(*root));
      }
    }
    return {};
  }

  void CheckKeys() {
    CheckKey(kTimestampKey, roots_.front().timestamp_keys, true);
    CheckKey(kSnapshotKey, roots_.front().snapshot_keys, true);
    CheckKey(kPolicyKey, roots_.front().policy_keys, false);
    CheckKey(kRootKey, roots_.front().root_keys, false);
  }

  // The root and policy keys may be stored elsewhere.
  void CheckKey(const char* name, const std::vector<crypto::PublicKey>& trusted, bool is_needed) {
    const Path path = data_dir_ / "keys" / name;
    std::error_code error;
    if (!is_needed && !std::filesystem::exists(path, error)) return;
    ++report_.files;
    if (!std::filesystem::exists(path, error)) return Note(path, "it is missing", false);
    const auto key = crypto::PrivateKey::LoadOrCreate(path);
    if (!key) return Note(path, key.error().message, false);
    if (std::find(trusted.begin(), trusted.end(), key->public_key()) != trusted.end()) return;
    Path waiting = path;
    waiting += kNextKeySuffix;  // left by an interrupted change of keys
    if (std::filesystem::exists(waiting, error)) return;
    Note(path, fmt::format("it is not a key that root version {} names", roots_.front().version),
         false);
  }

  void CheckPolicy() {
    const auto policy = PublishedPolicy(data_dir_);
    if (policy && !*policy) return;
    ++report_.files;
    if (!policy) Note(published() / kPolicyFile, policy.error().message, false);
  }

  Status CheckSnapshots() {
    const Path directory = published() / "snapshots";
    FIELDCOST_ASSIGN(const std::vector<std::string> names, NamesIn(directory));
    for (const std::string& name : names) {
      if (!IsHexSha256(name)) continue;  // left by an interrupted write
      const auto bytes = Read(directory / name, wire::kMaxMetadataBytes, true);
      if (!bytes) continue;
      auto snapshot = VerifyByAny(roots_, [&](const wire::RootMetadata& root) {
        return wire::VerifySnapshot(*bytes, root);
      });
      if (crypto::HexSha256(*bytes) != name) {
        Note(directory / name, "its name is not the hash of its content", true);
      } else if (!snapshot) {
        Note(directory / name, snapshot.error().message, true);
      } else if (!newest_ || snapshot->version > newest_->version) {
        newest_ = std::move(*snapshot);
      }
    }
    return {};
  }

  Status CheckFragments() {
    const Path directory = published() / "fragments";
    FIELDCOST_ASSIGN(const std::vector<std::string> names, NamesIn(directory));
    std::set<std::string> present;
    for (const std::string& name : names) {
      if (!IsHexSha256(name)) continue;  // left by an interrupted write
      present.insert(name);
      const auto bytes = Read(directory / name, wire::kMaxFragmentBytes, true);
      if (bytes && crypto::HexSha256(*bytes) != name) {
        Note(directory / name, "its name is not the hash of its content", true);
      }
    }
    if (!newest_) return {};
    for (const wire::FragmentReference& fragment : newest_->fragments) {
      const std::string name = HexEncode(fragment.sha256);
      if (!present.contains(name)) Note(directory / name, "it is missing", true);
    }
    return {};
  }

  void CheckTimestamp() {
    const Path path = published() / "timestamp";
    std::error_code error;
    if (!newest_ && !std::filesystem::exists(path, error)) return;
    const auto bytes = Read(path, wire::kMaxMetadataBytes, true);
    if (!bytes) return;
    const auto timestamp = VerifyByAny(roots_, [&](const wire::RootMetadata& root) {
      return wire::VerifyTimestamp(*bytes, root);
    });
    if (!timestamp) return Note(path, timestamp.error().message, true);
    const Path snapshot = published() / "snapshots" / HexEncode(timestamp->snapshot_sha256);
    if (!std::filesystem::exists(snapshot, error)) Note(snapshot, "it is missing", true);
  }

  const Path data_dir_;
  FileReport report_;
  std::vector<wire::RootMetadata> roots_;  // newest first
  std::optional<wire::SnapshotMetadata> newest_;
};

}  // namespace

Result<FileReport> CheckFiles(const std::filesystem::path& data_dir) {
  return FileCheck(data_dir).Run();
}

std::string Describe(const DamagedFile& damaged) {
  return damaged.why.find(damaged.path.string()) == std::string::npos
             ? fmt::format("{}: {}", damaged.path.string(), damaged.why)
             : damaged.why;
}

}  // namespace fieldcost::publish

#include "aggregator/publish/key_rotation.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "aggregator/publish/key_ring.h"
#include "aggregator/publish/publish_limits.h"
#include "common/base/file.h"
#include "common/crypto/ed25519.h"

namespace fieldcost::publish {
namespace {

constexpr std::array<std::string_view, 4> kRoleNames = {"timestamp", "snapshot", "policy", "root"};

const char* FileOf(KeyRole role) {
  switch (role) {
    case KeyRole::kTimestamp:
      return kTimestampKey;
    case KeyRole::kSnapshot:
      return kSnapshotKey;
    case KeyRole::kPolicy:
      return kPolicyKey;
    case KeyRole::kRoot:
      break;
  }
  return kRootKey;
}

std::vector<crypto::PublicKey>& KeysOf(wire::RootMetadata& root, KeyRole role) {
  switch (role) {
    case KeyRole::kTimestamp:
      return root.timestamp_keys;
    case KeyRole::kSnapshot:
      return root.snapshot_keys;
    case KeyRole::kPolicy:
      return root.policy_keys;
    case KeyRole::kRoot:
      break;
  }
  return root.root_keys;
}

std::filesystem::path OfflineDir(const RotationOptions& options) {
  return options.offline_dir.empty() ? options.data_dir / "keys" : options.offline_dir;
}

// Makes the service's user the owner of the file, since the service reads what an administrator
// creates there.
Status GiveToOwnerOf(const std::filesystem::path& directory, const std::filesystem::path& file) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0) return ErrnoError("look up", directory, errno);
  if (info.st_uid == ::geteuid()) return {};
  if (::lchown(file.c_str(), info.st_uid, info.st_gid) == 0) return {};
  return ErrnoError("change the owner of", file, errno);
}

// root*.key
Result<std::vector<std::filesystem::path>> OwnRootKeyFiles(const std::filesystem::path& keys_dir) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator(keys_dir, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with("root") && name.ends_with(".key")) files.push_back(it->path());
  }
  if (error) return ErrnoError("list", keys_dir, error.value());
  std::sort(files.begin(), files.end());
  return files;
}

// Returns different keys of the root, as many as it requires.
Result<std::vector<crypto::PrivateKey>> LoadSigners(const RotationOptions& options,
                                                    const wire::RootMetadata& root) {
  const bool named = !options.root_key_files.empty();
  std::vector<std::filesystem::path> files = options.root_key_files;
  if (!named) {
    FIELDCOST_ASSIGN(files, OwnRootKeyFiles(OfflineDir(options)));
  }
  std::vector<crypto::PrivateKey> signers;
  for (const std::filesystem::path& file : files) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) {
      return Fail(ErrorCode::kNotFound, "root key file {} is missing", file.string());
    }
    FIELDCOST_ASSIGN(const auto key, crypto::PrivateKey::LoadOrCreate(file));
    const bool trusted =
        std::count(root.root_keys.begin(), root.root_keys.end(), key.public_key()) != 0;
    if (!trusted && named) {
      return Fail(ErrorCode::kUnauthenticated, "{} is not a root key of root version {}",
                  file.string(), root.version);
    }
    const bool again = std::any_of(signers.begin(), signers.end(), [&](const auto& signer) {
      return signer.public_key() == key.public_key();
    });
    if (trusted && !again) signers.push_back(key);
  }
  if (signers.size() >= root.root_threshold) return signers;
  return Fail(named ? ErrorCode::kUnauthenticated : ErrorCode::kNotFound,
              "root version {} needs {} of its {} root keys to sign the next one, {} found; bring "
              "their files with --root-key FILE, or name their directory with --offline DIR",
              root.version, root.root_threshold, root.root_keys.size(), signers.size());
}

// The new root, and what is needed to sign the next one.
struct Change {
  std::filesystem::path keys_dir;
  std::filesystem::path root_dir;
  UniqueFd turn;  // held so that there is one change at a time, and no backup
  wire::RootMetadata next;
  std::vector<crypto::PrivateKey> signers;
};

Result<Change> Begin(const RotationOptions& options, const Clock& clock) {
  Change change{.keys_dir = options.data_dir / "keys",
                .root_dir = options.data_dir / "publish" / "root"};
  std::error_code error;
  if (!std::filesystem::is_directory(change.root_dir, error)) {
    return Fail(ErrorCode::kNotFound, "there is no root in {}; start the server once",
                change.root_dir.string());
  }
  FIELDCOST_ASSIGN(change.turn, LockKeys(options.data_dir));
  FIELDCOST_ASSIGN(change.next, KeyRing::NewestRoot(change.root_dir));
  FIELDCOST_ASSIGN(change.signers, LoadSigners(options, change.next));
  ++change.next.version;
  change.next.expires = clock.Now() + kRootLifetime;
  change.next.operated_by = options.operated_by;
  return change;
}

Status Finish(const Change& change) {
  const std::string name = std::to_string(change.next.version);
  const std::string bytes = wire::SignRoot(change.next, change.signers);
  // Makes the checks of a client, before anyone can see the root.
  FIELDCOST_TRY(wire::VerifyPinnedRoot(bytes));
  return WriteFileAtomically(change.root_dir / name, bytes, 0644);
}

// Makes a new key in a file of that name, which is replaced if it exists.
Result<crypto::PrivateKey> MakeKey(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::remove(path, error);
  if (error) return ErrnoError("remove", path, error.value());
  return crypto::PrivateKey::LoadOrCreate(path);
}

Result<RotatedKeys> RotateRootKeys(const RotationOptions& options, Change change) {
  if (options.root_keys == 0 || options.root_keys > kMaxRootKeys || options.root_threshold == 0 ||
      options.root_threshold > options.root_keys) {
    return Fail(ErrorCode::kInvalidArgument,
                "there must be 1 to {} root keys, and a threshold of 1 to their number",
                kMaxRootKeys);
  }
  RotatedKeys result;
  change.next.root_keys.clear();
  change.next.root_threshold = options.root_threshold;
  for (unsigned i = 1; i <= options.root_keys; ++i) {
    const std::string number = options.root_keys == 1 ? "" : fmt::format("-{}", i);
    const std::filesystem::path path =
        OfflineDir(options) / fmt::format("root-{}{}.key", change.next.version, number);
    FIELDCOST_ASSIGN(const auto key, MakeKey(path));
    change.next.root_keys.push_back(key.public_key());
    change.signers.push_back(key);
    result.key_files.push_back(path);
  }
  FIELDCOST_TRY(Finish(change));
  result.root = std::move(change.next);
  return result;
}

}  // namespace

Result<KeyRole> ParseKeyRole(std::string_view untrusted_text) {
  for (std::size_t i = 0; i < kRoleNames.size(); ++i) {
    if (kRoleNames[i] == untrusted_text) return static_cast<KeyRole>(i);
  }
  return Fail(ErrorCode::kInvalidArgument, "expected one of the roles {}",
              fmt::join(kRoleNames, ", "));
}

std::string_view Name(KeyRole role) { return kRoleNames[static_cast<std::size_t>(role)]; }

Result<UniqueFd> LockKeys(const std::filesystem::path& data_dir) {
  const std::filesystem::path path = data_dir / "keys";
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoError("open", path, errno);
  if (::flock(fd.get(), LOCK_EX) != 0) return ErrnoError("lock", path, errno);
  return fd;
}

Result<RotatedKeys> RotateKeys(const RotationOptions& options, KeyRole role, const Clock& clock) {
  FIELDCOST_ASSIGN(Change change, Begin(options, clock));
  if (role == KeyRole::kRoot) return RotateRootKeys(options, std::move(change));
  const bool is_online = role != KeyRole::kPolicy;
  const std::filesystem::path path =
      (is_online ? change.keys_dir : OfflineDir(options)) / FileOf(role);
  std::filesystem::path waiting = path;
  waiting += kNextKeySuffix;
  // A key that waits for the newest root has to replace its predecessor before another one waits.
  static_cast<void>(KeyRing::LoadKey(path, KeysOf(change.next, role), change.next.version - 1));
  FIELDCOST_ASSIGN(const auto key, MakeKey(waiting));
  if (is_online) FIELDCOST_TRY(GiveToOwnerOf(change.keys_dir, waiting));
  KeysOf(change.next, role) = {key.public_key()};
  FIELDCOST_TRY(Finish(change));
  FIELDCOST_TRY(KeyRing::LoadKey(path, KeysOf(change.next, role), change.next.version));
  return RotatedKeys{.root = std::move(change.next), .key_files = {path}};
}

Result<RotatedKeys> RenewRoot(const RotationOptions& options, const Clock& clock) {
  FIELDCOST_ASSIGN(Change change, Begin(options, clock));
  FIELDCOST_TRY(Finish(change));
  return RotatedKeys{.root = std::move(change.next)};
}

}  // namespace fieldcost::publish

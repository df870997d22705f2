#include "aggregator/publish/key_export.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "aggregator/publish/key_ring.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/crypto/ed25519.h"

namespace fieldcost::publish {
namespace {

bool IsOf(KeyRole role, std::string_view name) {
  if (name.ends_with(kNextKeySuffix)) name.remove_suffix(std::string_view(kNextKeySuffix).size());
  if (role == KeyRole::kPolicy) return name == kPolicyKey;
  return role == KeyRole::kRoot && name.starts_with("root") && name.ends_with(".key");
}

std::vector<std::filesystem::path> FilesOf(const std::filesystem::path& keys_dir,
                                           const std::vector<KeyRole>& roles) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator(keys_dir, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    const bool wanted =
        std::any_of(roles.begin(), roles.end(), [&name](KeyRole role) { return IsOf(role, name); });
    if (wanted) files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<dev_t> DeviceOf(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return ErrnoError("look up", path, errno);
  return info.st_dev;
}

Status CheckPlace(const std::filesystem::path& data_dir, const std::filesystem::path& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) {
    return Fail(ErrorCode::kNotFound,
                "{} is not a directory; mount the medium for the keys and create it",
                directory.string());
  }
  const auto place = std::filesystem::canonical(directory, error);
  if (error) return ErrnoError("look up", directory, error.value());
  const auto data = std::filesystem::canonical(data_dir, error);
  if (error) return ErrnoError("look up", data_dir, error.value());
  const std::filesystem::path below = place.lexically_relative(data);
  if (!below.empty() && *below.begin() != "..") {
    return Fail(
        ErrorCode::kInvalidArgument,
        "{} is in the data directory, which the service reads; choose another place for the keys",
        directory.string());
  }
  return {};
}

// Loads the key from a file that must exist.
Result<crypto::PrivateKey> Load(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return Fail(ErrorCode::kNotFound, "key file {} is missing", path.string());
  }
  return crypto::PrivateKey::LoadOrCreate(path);
}

// Creates the file, which must not exist. Avoids link() and rename(), which not every medium
// supports.
Status WriteNewFile(const std::filesystem::path& path, std::string_view bytes) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoError("make", path, errno);
  Status status;
  const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
  if (written != static_cast<ssize_t>(bytes.size())) {
    status = ErrnoError("write", path, written < 0 ? errno : ENOSPC);
  } else if (::fsync(fd.get()) != 0) {
    status = ErrnoError("sync", path, errno);
  } else {
    status = SyncDirectory(path.parent_path());
    // Makes sure that reading back reads from the medium.
    ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
  if (!status) ::unlink(path.c_str());
  return status;
}

Status SyncFile(const std::filesystem::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid() || ::fsync(fd.get()) != 0) return ErrnoError("sync", path, errno);
  return SyncDirectory(path.parent_path());
}

// Accepts an existing copy from an interrupted export.
Status Copy(const std::filesystem::path& from, const crypto::PublicKey& key,
            const std::filesystem::path& to) {
  std::error_code error;
  const bool was_there = std::filesystem::exists(to, error);
  if (!was_there) {
    FIELDCOST_ASSIGN(const std::string bytes, ReadFile(from, 4096));
    FIELDCOST_TRY(WriteNewFile(to, bytes));
  }
  const auto copied = Load(to);
  if (copied && copied->public_key() == key) return was_there ? SyncFile(to) : Status();
  if (was_there) {
    return Fail(ErrorCode::kAlreadyExists,
                "{} exists and holds another key or no readable one; it is not overwritten",
                to.string());
  }
  ::unlink(to.c_str());
  return Fail(ErrorCode::kIo, "the copy {} cannot be used, so {} is not removed: {}", to.string(),
              from.string(), copied ? "it holds another key" : copied.error().message);
}

}  // namespace

std::vector<std::filesystem::path> OfflineKeyFiles(const std::filesystem::path& keys_dir) {
  return FilesOf(keys_dir, {KeyRole::kRoot, KeyRole::kPolicy});
}

void WarnOfOfflineKeys(const std::filesystem::path& keys_dir) {
  std::string names;
  for (const std::filesystem::path& file : OfflineKeyFiles(keys_dir)) {
    names += (names.empty() ? "" : ", ") + file.string();
  }
  if (names.empty()) return;
  LogWarning(
      "keys that this service does not need are on this machine: {}. An intruder can replace "
      "all other keys with them, or choose what agents send; fieldcost-aggregator keys "
      "export-offline moves them away",
      names);
}

Result<ExportedKeys> ExportOfflineKeys(const std::filesystem::path& data_dir, KeyRole role,
                                       const std::filesystem::path& directory) {
  if (role != KeyRole::kRoot && role != KeyRole::kPolicy) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "the {} key cannot go offline: the service signs with it; only root and policy keys can",
        Name(role));
  }
  FIELDCOST_TRY(CheckPlace(data_dir, directory));
  const std::filesystem::path keys_dir = data_dir / "keys";
  FIELDCOST_ASSIGN(const UniqueFd turn, LockKeys(data_dir));
  FIELDCOST_ASSIGN(const wire::RootMetadata root,
                   KeyRing::NewestRoot(data_dir / "publish" / "root"));
  const auto& in_force = role == KeyRole::kRoot ? root.root_keys : root.policy_keys;
  // Completes an interrupted rotation.
  if (role == KeyRole::kPolicy) {
    static_cast<void>(KeyRing::LoadKey(keys_dir / kPolicyKey, in_force, root.version));
  }
  const auto files = FilesOf(keys_dir, {role});
  ExportedKeys exported;
  bool any_in_force = false;
  for (const std::filesystem::path& file : files) {
    FIELDCOST_ASSIGN(const auto key, Load(file));
    any_in_force = any_in_force ||
                   std::find(in_force.begin(), in_force.end(), key.public_key()) != in_force.end();
    exported.copies.push_back(directory / file.filename());
  }
  if (!any_in_force) {
    return Fail(ErrorCode::kNotFound, "no file in {} holds a {} key of root version {}",
                keys_dir.string(), Name(role), root.version);
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    FIELDCOST_ASSIGN(const auto key, Load(files[i]));
    FIELDCOST_TRY(Copy(files[i], key.public_key(), exported.copies[i]));
  }
  for (const std::filesystem::path& file : files) {
    if (::unlink(file.c_str()) != 0) return ErrnoError("remove", file, errno);
  }
  FIELDCOST_TRY(SyncDirectory(keys_dir));
  FIELDCOST_ASSIGN(const dev_t here, DeviceOf(keys_dir));
  FIELDCOST_ASSIGN(const dev_t there, DeviceOf(directory));
  exported.on_same_file_system = here == there;
  return exported;
}

}  // namespace fieldcost::publish

#include "aggregator/upkeep/backup.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "aggregator/ingest/pseudonyms.h"
#include "aggregator/ingest/receipt.h"
#include "aggregator/publish/key_ring.h"
#include "aggregator/publish/key_rotation.h"
#include "aggregator/publish/policy_publisher.h"
#include "aggregator/upkeep/backup_manifest.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"

namespace fieldcost::aggregator {
namespace {

constexpr char kFilesFolder[] = "files";  // next to the engine's files; named by content hash
// Created in advance, since the engine would make these folders readable for everyone.
constexpr const char* kBackupFolders[] = {kFilesFolder, "meta", "private", "shared_checksum"};

// The files of keys/ that belong to the store. No others are copied: neither root keys, under any
// name, nor an editor's copies.
constexpr const char* kSecrets[] = {ingest::kPseudonymSecret, ingest::kReceiptSecret};
constexpr const char* kSigningKeys[] = {publish::kTimestampKey, publish::kSnapshotKey,
                                        publish::kPolicyKey};

// Lists the existing root versions, by the names of their files. Other files, such as one of an
// interrupted write, are left out.
Result<std::vector<std::string>> RootsIn(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator(directory, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (ParseUint64(name)) names.push_back(name);
  }
  if (error) return ErrnoError("list", directory, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

// Lists the files that are saved with the store, relative to the data directory.
Result<std::vector<std::string>> PathsToKeep(const BackupOptions& options) {
  std::vector<std::string> paths;
  const auto keep = [&](const std::string& path) {
    std::error_code error;
    if (std::filesystem::exists(options.data_dir / path, error)) paths.push_back(path);
  };
  const std::string keys = "keys/";
  for (const char* name : kSecrets) paths.push_back(keys + name);
  for (const char* name : kSigningKeys) {
    if (options.without_signing_keys) break;
    // The operator may have made it unreadable to the service.
    const bool is_policy = std::string_view(name) == publish::kPolicyKey;
    if (is_policy && ::access((options.data_dir / keys / name).c_str(), R_OK) != 0) continue;
    keep(keys + name);
    keep(keys + name + publish::kNextKeySuffix);
  }
  FIELDCOST_ASSIGN(const auto roots, RootsIn(options.data_dir / "publish/root"));
  for (const std::string& name : roots) paths.push_back("publish/root/" + name);
  for (const char* name : {publish::kPolicyFile, publish::kPolicyFloorFile}) {
    keep(std::string("publish/") + name);
  }
  return paths;
}

// Refuses directories inside the backed-up data, where a backup would be served, deleted or
// mistaken for other data.
Status CheckPlace(const BackupOptions& options) {
  std::error_code error;
  const auto data_dir = std::filesystem::weakly_canonical(options.data_dir, error);
  if (error) return ErrnoError("look up", options.data_dir, error.value());
  const auto directory = std::filesystem::weakly_canonical(options.directory, error);
  if (error) return ErrnoError("look up", options.directory, error.value());
  const std::filesystem::path below = directory.lexically_relative(data_dir);
  for (const char* taken : {".", "store", "keys", "publish"}) {
    if (!below.empty() && *below.begin() == taken) {
      return Fail(ErrorCode::kInvalidArgument,
                  "{} is part of the data directory; a backup needs a separate directory",
                  options.directory.string());
    }
  }
  return {};
}

Result<BackedUpFile> CopyIn(const BackupOptions& options, const std::string& path) {
  FIELDCOST_ASSIGN(const std::string bytes,
                   ReadFile(options.data_dir / path, kMaxBackedUpFileBytes));
  BackedUpFile file{.path = path,
                    .mode = path.starts_with("keys/") ? 0600U : 0644U,
                    .size_bytes = bytes.size(),
                    .sha256 = crypto::HexSha256(bytes)};
  const std::filesystem::path copy = options.directory / kFilesFolder / file.sha256;
  const auto there = ReadFile(copy, kMaxBackedUpFileBytes);
  if (!there || *there != bytes) FIELDCOST_TRY(WriteFileAtomically(copy, bytes, 0600));
  return file;
}

// The highest number among the names of files in the directory; 0 if none.
std::uint64_t NewestIn(const std::filesystem::path& directory) {
  std::uint64_t newest = 0;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator(directory, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    newest = std::max(newest, ParseUint64(it->path().filename().string()).value_or(0));
  }
  return newest;
}

// The list of the newest backup's files, including our own list.
std::filesystem::path NewestList(const std::filesystem::path& directory) {
  return directory / "meta" / std::to_string(NewestIn(directory / "meta"));
}

Result<std::string> ReadChecked(const std::filesystem::path& directory, const BackedUpFile& file) {
  const std::filesystem::path path = directory / kFilesFolder / file.sha256;
  auto bytes = ReadFile(path, kMaxBackedUpFileBytes);
  if (!bytes && bytes.error().code == ErrorCode::kNotFound) {
    return Fail(ErrorCode::kCorrupt, "{}, the backup's copy of {}, is missing", path.string(),
                file.path);
  }
  if (!bytes) return bytes.error();
  if (bytes->size() != file.size_bytes || crypto::HexSha256(*bytes) != file.sha256) {
    return Fail(ErrorCode::kCorrupt, "{}, the backup's copy of {}, is damaged", path.string(),
                file.path);
  }
  return bytes;
}

Status WriteFiles(const std::filesystem::path& directory, const std::filesystem::path& data_dir,
                  const std::vector<BackedUpFile>& files) {
  std::vector<std::string> contents;  // all files are read before any is written
  for (const BackedUpFile& file : files) {
    FIELDCOST_ASSIGN(std::string bytes, ReadChecked(directory, file));
    contents.push_back(std::move(bytes));
  }
  FIELDCOST_TRY(MakeDirectories(data_dir / "keys", 0700));
  FIELDCOST_TRY(MakeDirectories(data_dir / "publish", 0755));
  FIELDCOST_TRY(MakeDirectories(data_dir / "publish/root", 0755));
  for (std::size_t i = 0; i < files.size(); ++i) {
    FIELDCOST_TRY(WriteFileAtomically(data_dir / files[i].path, contents[i],
                                      static_cast<int>(files[i].mode)));
  }
  return publish::LeavePolicyVersionGap(data_dir);
}

}  // namespace

Result<BackupReport> BackUp(store::Store& store, const BackupOptions& options) {
  BackupReport report;
  FIELDCOST_TRY(CheckPlace(options));
  // Copies keys and roots as of one moment.
  FIELDCOST_ASSIGN(const UniqueFd turn, publish::LockKeys(options.data_dir));
  FIELDCOST_TRY(MakeDirectories(options.directory, 0700));
  for (const char* folder : kBackupFolders) {
    FIELDCOST_TRY(MakeDirectories(options.directory / folder, 0700));
  }
  FIELDCOST_ASSIGN(const std::vector<std::string> paths, PathsToKeep(options));
  std::vector<BackedUpFile> files;
  for (const std::string& path : paths) {
    FIELDCOST_ASSIGN(BackedUpFile file, CopyIn(options, path));
    files.push_back(std::move(file));
  }
  report.files = files.size();
  report.sequence = store.sequence();
  FIELDCOST_TRY(store.Backup(options.directory, EncodeManifest(files)));
  return report;
}

Result<RestoreReport> Restore(const std::filesystem::path& directory,
                              const std::filesystem::path& data_dir) {
  for (const char* name : {"store", "keys", "publish"}) {
    std::error_code error;
    if (std::filesystem::exists(data_dir / name, error)) {
      return Fail(ErrorCode::kAlreadyExists,
                  "{} already exists; restore into an empty data directory",
                  (data_dir / name).string());
    }
  }
  RestoreReport report;
  std::set<std::string> restored;
  FIELDCOST_TRY(store::Store::RestoreBackup(
      directory, data_dir, [&](std::string_view untrusted_manifest) -> Status {
        const auto files = DecodeManifest(untrusted_manifest);
        if (!files) {
          return Within(files.error(), NewestList(directory).string());
        }
        for (const BackedUpFile& file : *files) restored.insert(file.path);
        report.files = files->size();
        return WriteFiles(directory, data_dir, *files);
      }));
  for (const char* name : {publish::kTimestampKey, publish::kSnapshotKey}) {
    const std::string path = std::string("keys/") + name;
    if (!restored.contains(path)) report.missing_keys.push_back(data_dir / path);
  }
  const std::uint64_t newest = NewestIn(directory / "private");
  if (newest > NewestIn(directory / "meta")) {
    report.passed_over = directory / "private" / std::to_string(newest);
  }
  return report;
}

}  // namespace fieldcost::aggregator

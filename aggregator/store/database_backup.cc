// The part of Database about backups: uses the engine's BackupEngine.
#include <fcntl.h>
#include <rocksdb/utilities/backup_engine.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "aggregator/store/database_state.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/text.h"

namespace fieldcost::store {
namespace {

constexpr std::size_t kMaxEngineLineBytes = 512;
constexpr std::size_t kMaxReasonBytes = 8 * 1024;  // enough for a path

Status Sync(const std::filesystem::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoError("open", path, errno);
  if (::fsync(fd.get()) != 0) return ErrnoError("sync", path, errno);
  return {};
}

// Syncs all files of a directory, the directory, and its entry in its parent.
Status SyncFlatDirectory(const std::filesystem::path& directory) {
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator(directory, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    FIELDCOST_TRY(Sync(it->path()));
  }
  if (error) return ErrnoError("list", directory, error.value());
  FIELDCOST_TRY(Sync(directory));
  return Sync(directory.parent_path());
}

rocksdb::BackupEngineOptions OptionsFor(const std::filesystem::path& directory,
                                        rocksdb::Logger* logger) {
  rocksdb::BackupEngineOptions options(directory.string());
  options.info_log = logger;
  options.sync = true;
  return options;
}

// Extracts from the engine's log why it ignores a damaged backup, since no API returns the reason.
class BackupLogger final : public rocksdb::Logger {
 public:
  BackupLogger() : rocksdb::Logger(rocksdb::INFO_LEVEL) {}
  void Logv(const char* format, va_list arguments) override {
    std::string line(kMaxReasonBytes, '\0');
    const int size = ::vsnprintf(line.data(), line.size(), format, arguments);
    line.resize(std::min(line.size() - 1, static_cast<std::size_t>(std::max(0, size))));
    constexpr std::string_view kBefore = " corrupted -- ";
    if (const std::size_t at = line.find(kBefore); at != std::string::npos) {
      reason_ = line.substr(at + kBefore.size());
    }
  }
  using rocksdb::Logger::Logv;
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;  // for the last ignored backup
};

// The list of a backup's files or, if it has none, the list of the newest backup that has one.
std::filesystem::path ListOf(const std::filesystem::path& directory, rocksdb::BackupID number) {
  return directory / "meta" / std::to_string(number);
}

Error NoBackup(const std::filesystem::path& directory) {
  std::uint64_t newest = 0;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator(directory / "private", error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    newest = std::max(newest, ParseUint64(it->path().filename().string()).value_or(0));
  }
  if (newest == 0)
    return Fail(ErrorCode::kNotFound, "there is no backup in {}", directory.string());
  return Fail(ErrorCode::kNotFound,
              "there is no backup in {}: {}, the list of its files, is missing, or making it was "
              "interrupted",
              directory.string(),
              ListOf(directory, static_cast<rocksdb::BackupID>(newest)).string());
}

// The engine ignores damaged backups; an older one must never be restored silently.
Status CheckNewestIsWhole(const rocksdb::BackupEngineReadOnlyBase& engine,
                          const std::filesystem::path& directory, rocksdb::BackupID newest_whole,
                          const std::string& reason) {
  std::vector<rocksdb::BackupID> damaged;
  engine.GetCorruptedBackups(&damaged);
  if (damaged.empty() || *std::max_element(damaged.begin(), damaged.end()) < newest_whole) {
    return {};
  }
  const std::string list =
      ListOf(directory, *std::max_element(damaged.begin(), damaged.end())).string();
  return Fail(ErrorCode::kCorrupt,
              "the newest backup in {}, whose list is {}, is damaged: {}; to go back to the one "
              "before, remove its list",
              directory.string(), list, reason);
}

Result<std::unique_ptr<rocksdb::BackupEngineReadOnly>> OpenReadOnly(
    const std::filesystem::path& directory, rocksdb::Logger* logger) {
  rocksdb::BackupEngineReadOnly* engine = nullptr;
  const rocksdb::Status status = rocksdb::BackupEngineReadOnly::Open(
      OptionsFor(directory, logger), rocksdb::Env::Default(), &engine);
  if (!status.ok()) {
    return ErrorOf(fmt::format("open the backups in {}", directory.string()), status);
  }
  return std::unique_ptr<rocksdb::BackupEngineReadOnly>(engine);
}

}  // namespace

void EngineLogger::Logv(const char* format, va_list arguments) {
  char line[kMaxEngineLineBytes];
  ::vsnprintf(line, sizeof line, format, arguments);
  // Logged at every backup; harmless: two parts of the engine make the same request.
  if (std::string_view(line).find("File Deletions ") != std::string_view::npos) return;
  // Logged at every start: files of a SortedSet have no ids of the engine.
  if (std::string_view(line).find("without unique ID to verify") != std::string_view::npos) return;
  Log(LogLevel::kWarning, fmt::format("rocksdb: {}", line));
}

Status Database::Backup(const std::filesystem::path& directory, std::string_view attachment) {
  FIELDCOST_TRY(MakeDirectories(directory, 0700));
  EngineLogger logger;
  rocksdb::BackupEngine* opened = nullptr;
  const std::string place = directory.string();
  rocksdb::Status status =
      rocksdb::BackupEngine::Open(OptionsFor(directory, &logger), rocksdb::Env::Default(), &opened);
  if (!status.ok()) return ErrorOf(fmt::format("open the backups in {}", place), status);
  const std::unique_ptr<rocksdb::BackupEngine> engine(opened);
  rocksdb::BackupID number = 0;
  rocksdb::CreateBackupOptions backup_options;
  backup_options.flush_before_backup = true;  // so that the backup does not depend on the log
  status = engine->CreateNewBackupWithMetadata(backup_options, state_->db.get(),
                                               std::string(attachment), &number);
  if (!status.ok()) return ErrorOf(fmt::format("back up to {}", place), status);
  status = engine->VerifyBackup(number, true);
  if (!status.ok()) return ErrorOf(fmt::format("verify the backup in {}", place), status);
  return {};
}

Result<std::optional<std::string>> Database::NewestAttachment(
    const std::filesystem::path& directory) {
  std::error_code error;
  if (!std::filesystem::is_directory(directory / "meta", error)) {
    return std::optional<std::string>();
  }
  EngineLogger logger;
  FIELDCOST_ASSIGN(const auto engine, OpenReadOnly(directory, &logger));
  rocksdb::BackupInfo newest;
  if (!engine->GetLatestBackupInfo(&newest).ok()) return std::optional<std::string>();
  return std::optional(std::move(newest.app_metadata));
}

Result<std::string> Database::Restore(const std::filesystem::path& directory,
                                      const std::filesystem::path& target) {
  const std::string place = directory.string();
  std::error_code error;
  if (!std::filesystem::is_directory(directory / "meta", error)) {
    return NoBackup(directory);
  }
  BackupLogger logger;
  FIELDCOST_ASSIGN(const auto engine, OpenReadOnly(directory, &logger));
  rocksdb::BackupInfo newest;
  const bool found = engine->GetLatestBackupInfo(&newest).ok();
  FIELDCOST_TRY(
      CheckNewestIsWhole(*engine, directory, found ? newest.backup_id : 0, logger.reason()));
  if (!found) return NoBackup(directory);
  FIELDCOST_TRY(MakeDirectories(target, 0700));
  const rocksdb::Status status =
      engine->RestoreDBFromBackup(newest.backup_id, target.string(), target.string());
  if (!status.ok()) {
    // Only verification reveals which file is damaged.
    const rocksdb::Status verified = engine->VerifyBackup(newest.backup_id, true);
    if (verified.ok()) return ErrorOf(fmt::format("restore from {}", place), status);
    return Fail(ErrorCode::kCorrupt, "restore from {}: {}; its list is {}", place,
                verified.ToString(), ListOf(directory, newest.backup_id).string());
  }
  FIELDCOST_TRY(SyncFlatDirectory(target));
  return std::move(newest.app_metadata);
}

}  // namespace fieldcost::store

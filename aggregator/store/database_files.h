#pragma once

#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/log_scan.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace fieldcost::store {

// The layer between the engine and its files; for database*.cc only.

// Detects the first failure anywhere in the engine, and keeps the engine from recovering by itself:
// after ENOSPC it would silently continue as soon as there is room.
class FailureListener final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/,
                         rocksdb::Status* error) override {
    if (!error->IsShutdownInProgress()) failed_ = true;
  }
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*error*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }
  bool failed() const { return failed_; }

 private:
  std::atomic<bool> failed_{false};
};

// Records next to each log and list of files how much of it was synced, so that damage can be
// distinguished from a torn end. A mark is written after each sync and is not synced itself, so it
// never claims too much, but after a power loss it may claim too little.
//
// Deletes nothing after the first failure. Otherwise, if syncing the list of files failed while the
// engine adopts files, the engine would remove these files although the list on the disk may name
// them.
class MarkingFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  MarkingFileSystem(const std::shared_ptr<rocksdb::FileSystem>& target,
                    std::shared_ptr<FailureListener> failures)
      : FileSystemWrapper(target), failures_(std::move(failures)) {}
  const char* Name() const override { return "MarkingFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

  // The number of bytes that this process has synced, for each existing file.
  std::map<std::string, std::uint64_t> SyncedBytes() const;
  void NoteSync(const std::string& path, std::uint64_t bytes);

 private:
  // Marks the file as no longer needed.
  rocksdb::IOStatus Retire(const std::string& path, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug);

  const std::shared_ptr<FailureListener> failures_;
  mutable Mutex mutex_;
  std::map<std::string, std::uint64_t> synced_ FIELDCOST_GUARDED_BY(mutex_);  // by path
};

// The end of a log that was torn off by a crash. It contains no acknowledged record.
struct TornEnd {
  std::filesystem::path file;
  std::uint64_t whole_bytes = 0;  // the size without it
  std::uint64_t bytes = 0;
};

// A place where a log, or the list of files, differs from what was written.
struct LogDamage {
  std::filesystem::path file;
  std::uint64_t at = 0;
  bool is_log = true;
  std::string text;
};

struct LogsState {
  std::vector<std::filesystem::path> logs;  // the needed logs, in the order of their records
  std::vector<TornEnd> torn;
  std::optional<LogDamage> damage;  // the first one; nothing after it is examined
};

// Checks whether logs and lists of files are intact as far as they were synced, and whether any
// record follows bytes that are not a record. Changes nothing. kCorrupt: CURRENT is damaged.
Result<LogsState> ScanLogs(rocksdb::FileSystem& files, const std::filesystem::path& directory);
// As ScanLogs(); damage is kCorrupt, with file and offset.
Result<std::vector<TornEnd>> CheckLogs(rocksdb::FileSystem& files,
                                       const std::filesystem::path& directory);
// The file next to a log, or list of files, that records how much of it was synced.
std::filesystem::path MarkOf(const std::filesystem::path& file);
inline constexpr std::size_t kMaxLogFileBytes = std::size_t{1} << 32;

// Removes the torn end, durably.
Status RemoveTornEnd(rocksdb::FileSystem& files, const TornEnd& end);
// Removes the remains of interrupted operations on logs.
Status CleanUpLogs(rocksdb::FileSystem& files, const std::filesystem::path& directory);

// Checks the files that are being written, up to the sizes in `synced`. kCorrupt: damage.
Status CheckSynced(rocksdb::FileSystem& files, const std::map<std::string, std::uint64_t>& synced);

// Passes all of a file, or its first `limit` bytes, to `scanner`. kIo.
Status ScanFile(rocksdb::FileSystem& files, const std::filesystem::path& file, std::uint64_t limit,
                LogScanner& scanner);

}  // namespace fieldcost::store

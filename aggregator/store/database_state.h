#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>
#include <rocksdb/snapshot.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "aggregator/store/database.h"

namespace fieldcost::store {

// What is behind Database; for database*.cc only, like everything that speaks of RocksDB.

inline rocksdb::Slice SliceOf(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
inline std::string_view ViewOf(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

inline Error ErrorOf(std::string_view action, const rocksdb::Status& status) {
  const ErrorCode code = status.IsCorruption() ? ErrorCode::kCorrupt : ErrorCode::kIo;
  return Fail(code, "{}: {}", action, status.ToString());
}

// The engine's warnings go to our log. (Its own log file would be one more file that can fail: in
// builds with assertions, as Debian's, writing to it after a full disk aborts the process.)
class EngineLogger final : public rocksdb::Logger {
 public:
  EngineLogger() : rocksdb::Logger(rocksdb::WARN_LEVEL) {}
  void Logv(const char* format, va_list arguments) override;
  using rocksdb::Logger::Logv;
};

// Takes note of the first failure, wherever in the engine, and keeps it from going on by itself: it
// would, after ENOSPC, as soon as there is room, as if nothing had happened.
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

// Deletes nothing any more after the first failure. When the sync of its list of files fails while
// it adopts files, the engine removes them; but the list that the disk has may name them.
class KeepingFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  KeepingFileSystem(const std::shared_ptr<rocksdb::FileSystem>& target,
                    std::shared_ptr<FailureListener> failures)
      : FileSystemWrapper(target), failures_(std::move(failures)) {}
  const char* Name() const override { return "KeepingFileSystem"; }
  rocksdb::IOStatus DeleteFile(const std::string& path, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
    if (failures_->failed()) return rocksdb::IOStatus::OK();
    return FileSystemWrapper::DeleteFile(path, options, debug);
  }

 private:
  const std::shared_ptr<FailureListener> failures_;
};

class Database::View {
 public:
  explicit View(rocksdb::DB& db) : holder_(&db), snapshot_(holder_.snapshot()) {}
  const rocksdb::Snapshot* get() const { return snapshot_; }

 private:
  rocksdb::ManagedSnapshot holder_;
  const rocksdb::Snapshot* snapshot_;
};

// Removes what a SortedSet that was never adopted has left.
Status RemoveUnadopted(rocksdb::Env& env, const std::filesystem::path& directory);

struct Database::State {
  ~State() {
    if (db == nullptr) return;
    for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
  }
  rocksdb::ColumnFamilyHandle* Handle(Table table) const {
    return handles[static_cast<std::size_t>(table)];
  }
  std::shared_ptr<FailureListener> failures = std::make_shared<FailureListener>();
  std::unique_ptr<rocksdb::Env> env;  // outlives db
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;  // by Table; the default family is last
  std::uint64_t next_sorted_file = 0;                 // no name is used twice, see ~SortedSet()
};

}  // namespace fieldcost::store

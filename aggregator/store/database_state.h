#pragma once

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/snapshot.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/database.h"
#include "aggregator/store/database_files.h"
#include "common/base/mutex.h"
#include "common/base/text.h"

namespace fieldcost::store {

// The implementation of Database; for database*.cc only, like everything that uses RocksDB.

inline rocksdb::Slice SliceOf(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
inline std::string_view ViewOf(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

inline Error ErrorOf(std::string_view action, const rocksdb::Status& status) {
  const ErrorCode code = status.IsCorruption() ? ErrorCode::kCorrupt : ErrorCode::kIo;
  // Escaped: it may contain damaged bytes, which must not control a terminal.
  return Fail(code, "{}: {}", action, EscapeControl(status.ToString()));
}

// Writes the engine's warnings to our log. (The engine's own log file can fail: in builds with
// assertions, such as Debian's, writing to it when the disk is full aborts the process.)
class EngineLogger final : public rocksdb::Logger {
 public:
  EngineLogger() : rocksdb::Logger(rocksdb::WARN_LEVEL) {}
  void Logv(const char* format, va_list arguments) override;
  using rocksdb::Logger::Logv;
};

class Database::View {
 public:
  explicit View(rocksdb::DB& db) : holder_(&db), snapshot_(holder_.snapshot()) {}
  const rocksdb::Snapshot* get() const { return snapshot_; }

 private:
  rocksdb::ManagedSnapshot holder_;
  const rocksdb::Snapshot* snapshot_;
};

// Removes the files of a SortedSet that was never adopted.
Status RemoveUnadopted(rocksdb::Env& env, const std::filesystem::path& directory);

inline constexpr std::size_t kMaxDamages = 100;

struct Database::State {
  // As ErrorOf(); also records damage.
  Error ReadError(std::string_view action, const rocksdb::Status& status) {
    Error error = ErrorOf(action, status);
    if (error.code == ErrorCode::kCorrupt) NoteDamage(error.message);
    return error;
  }
  void NoteDamage(const std::string& text);
  ~State() {
    if (db == nullptr) return;
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      if (handle != nullptr) db->DestroyColumnFamilyHandle(handle);
    }
  }
  rocksdb::ColumnFamilyHandle* Handle(Table table) const {
    return handles[static_cast<std::size_t>(table)];
  }
  std::shared_ptr<FailureListener> failures = std::make_shared<FailureListener>();
  std::shared_ptr<MarkingFileSystem> files;
  std::vector<TornLog> torn_logs;
  Mutex damage_mutex;
  std::set<std::string> damages FIELDCOST_GUARDED_BY(damage_mutex);  // at most kMaxDamages
  std::unique_ptr<rocksdb::Env> env;                                 // outlives db
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*>
      handles;  // by Table, null if absent; the default family is last
  std::atomic<std::uint64_t> next_sorted_file{0};  // names are never reused, see ~SortedSet()
};

}  // namespace fieldcost::store

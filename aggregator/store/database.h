#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace rocksdb {
class FileSystem;
}

namespace fieldcost::store {

// The engine below the store, reduced to what the store needs: ordered tables, atomic synced
// writes, point-in-time views. RocksDB stands behind it (only database*.cc and database_state.h see
// it). All keys compare as unsigned bytes.

enum class Table { kRows = 0, kInbox = 1, kLedger = 2, kMeta = 3, kHeld = 4 };
inline constexpr int kTables = 5;

struct DatabaseOptions {
  std::filesystem::path directory;
  std::size_t write_buffer_bytes = 0;  // of all tables together
  std::size_t block_cache_bytes = 0;
  std::shared_ptr<rocksdb::FileSystem> file_system = nullptr;  // null = the system's
};

class Database {
 public:
  // Several changes that become visible and durable together, or not at all.
  class WriteSet {
   public:
    explicit WriteSet(Database& database);
    ~WriteSet();
    WriteSet(const WriteSet&) = delete;
    WriteSet& operator=(const WriteSet&) = delete;
    void Put(Table table, std::string_view key, std::string_view value);
    void Delete(Table table, std::string_view key);
    void DeleteRange(Table table, std::string_view begin, std::string_view end);

   private:
    friend class Database;
    struct State;
    std::unique_ptr<State> state_;
  };

  // The state at one moment. REQUIRES: does not outlive its database.
  class View;

  // kIo or kCorrupt, with the directory in the message.
  static Result<std::unique_ptr<Database>> Open(const DatabaseOptions& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Returns after the changes are in the log and the log is synced. Concurrent callers share a
  // sync: RocksDB's write group appends all their records and syncs once (write leader). kIo: it is
  // not known whether the changes survive.
  Status Write(WriteSet& changes);

  // False after the first write, sync or other operation that failed, also in the background.
  bool healthy() const;

  std::shared_ptr<View> Freeze();

  // Of the newest state if `view` is null.
  Result<std::optional<std::string>> Get(Table table, std::string_view key,
                                         const View* view = nullptr) const;

  // Visits the entries with key >= `begin` in ascending order, as they are now or in `view`.
  using Visitor = std::function<Status(std::string_view key, std::string_view value)>;
  Status ForEach(Table table, std::string_view begin, const View* view, const Visitor& visit) const;
  // Those whose keys begin with `prefix`, as they are now.
  Status ForPrefix(Table table, std::string_view prefix, const Visitor& visit) const;
  // At most so many entries, as they are now. Returns the key to go on from; empty after the last.
  Result<std::string> ForSome(Table table, std::string_view begin, std::size_t max_entries,
                              const Visitor& visit) const;

  // Rewrites a table without what is deleted or overwritten. Others may read and write meanwhile.
  Status Compact(Table table);
  // The engine's estimate of the bytes of its live data; reads no disk.
  std::uint64_t EstimatedBytes() const;

  // Adds a copy as of now to the backups in `directory` and verifies it; `attachment` is kept with
  // it. Durable when it returns. One at a time. kIo, kCorrupt.
  Status Backup(const std::filesystem::path& directory, std::string_view attachment);
  // What is kept with the newest backup, whole or not; nullopt if there is none.
  static Result<std::optional<std::string>> NewestAttachment(
      const std::filesystem::path& directory);
  // Writes the newest backup, checking every byte, into `target`, which is made, and returns its
  // attachment. Durable when it returns. kNotFound: there is none; kCorrupt: it is damaged (older
  // ones are not tried).
  static Result<std::string> Restore(const std::filesystem::path& directory,
                                     const std::filesystem::path& target);

 private:
  struct State;
  explicit Database(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::store

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace rocksdb {
class FileSystem;
}

namespace fieldcost::store {

// The engine below the store, reduced to what the store needs: ordered tables, atomic synced
// writes, point-in-time views. Implemented with RocksDB, which only database*.cc, database_state.h
// and database_files.h see. All keys compare as unsigned bytes.

enum class Table {
  kRows = 0,
  kInbox = 1,
  kLedger = 2,
  kMeta = 3,
  kHeld = 4,
  kProgress = 5,
  kBatches = 6,
  kPublished = 7
};
inline constexpr int kTables = 8;

enum class DatabaseAccess {
  kWrite,
  kRead,         // nothing on the disk is changed
  kReadDamaged,  // as kRead; a damaged log ends where the damage is
  kWriteCut      // as kWrite, after DropBehind(): the engine's list names logs that are gone
};

struct DatabaseOptions {
  std::filesystem::path directory;
  DatabaseAccess access = DatabaseAccess::kWrite;
  std::size_t write_buffer_bytes = 0;  // for all tables together
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
    // There is no deletion of a range: a compaction of nothing else aborts the program if the disk
    // is full (RocksDB 7.8: it compares the keys of an output file that has none).
    void Delete(Table table, std::string_view key);

   private:
    friend class Database;
    struct State;
    std::unique_ptr<State> state_;
  };

  // Any number of changes, in ascending order of keys per table, that become visible and durable
  // together, or not at all, by Adopt(). They are written to files of their own and bypass the log
  // and the write buffers, so other writers do not wait for them, and memory does not grow with
  // their number. Not thread-safe; several threads may each have one.
  class SortedSet {
   public:
    explicit SortedSet(Database& database);
    ~SortedSet();  // removes the files
    SortedSet(const SortedSet&) = delete;
    SortedSet& operator=(const SortedSet&) = delete;
    // REQUIRES: `key` is after all previous keys of this table. kIo.
    Status Put(Table table, std::string_view key, std::string_view value);
    Status Delete(Table table, std::string_view key);

   private:
    friend class Database;
    struct State;
    std::unique_ptr<State> state_;
  };

  // The state at one moment. REQUIRES: does not outlive its database.
  class View;

  // Looks up keys in ascending order, without filling the block cache; the larger the part of the
  // table that is read, the cheaper than Get(). REQUIRES: does not outlive its database. Not
  // thread-safe.
  class Lookup {
   public:
    Lookup(const Database& database, Table table, const View* view);
    ~Lookup();
    // The value is valid until the next call; nullopt if there is no such entry.
    Result<std::optional<std::string_view>> Find(std::string_view key);

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

  // Reads the entries with `begin` <= key < `end` (no upper bound if `end` is empty) one by one,
  // ascending, without filling the block cache. REQUIRES: does not outlive its database and the
  // view. Not thread-safe.
  class Cursor {
   public:
    Cursor(const Database& database, Table table, const View* view, std::string begin,
           std::string end);
    ~Cursor();
    Cursor(const Cursor&) = delete;
    Cursor& operator=(const Cursor&) = delete;
    // Moves to the next entry, the first time to the first one; false if there is none.
    Result<bool> Next();
    // Valid until the next call of Next(). REQUIRES: Next() has returned true.
    std::string_view key() const;
    std::string_view value() const;

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

  // The end of a log that was torn off by a crash. It contains no acknowledged record. Opening for
  // writing removes it.
  struct TornLog {
    std::filesystem::path file;
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;
  };

  // A table file, as in the engine's list.
  struct TableFile {
    std::filesystem::path path;
    std::string table;         // the table's name
    std::uint64_t number = 0;  // ascending in order of creation
    std::uint64_t bytes = 0;
    std::string checksum;  // of all its bytes
  };

  // kIo or kCorrupt, with the directory in the message; kUnsupported: a newer program's. Before
  // changing anything, checks that logs and lists of files contain everything that was synced.
  static Result<std::unique_ptr<Database>> Open(const DatabaseOptions& options);
  // Whether there is a database that lacks a table, which opening for writing would create. False
  // if there is no database, or if its list of files cannot be read, which Open() reports.
  static bool LacksTables(const DatabaseOptions& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Returns after the changes are in the log and the log is synced. Concurrent callers share a
  // sync: RocksDB's write group appends all their records and syncs once (write leader). kIo: it is
  // unknown whether the changes survive.
  Status Write(WriteSet& changes);

  // Applies all changes of these sets, durably and in one step. Writers wait while the engine
  // records this, independently of the number of changes. REQUIRES: in each table, the keys of a
  // set are after those of the sets before it. kIo: it is unknown whether the changes survive.
  Status Adopt(std::span<SortedSet* const> sets);
  Status Adopt(SortedSet& changes);

  // False after any write, sync or other operation has failed, including those in the background.
  bool healthy() const;

  std::shared_ptr<View> Freeze();

  // Reads the newest state if `view` is null.
  Result<std::optional<std::string>> Get(Table table, std::string_view key,
                                         const View* view = nullptr) const;

  Result<bool> IsEmpty() const;  // no table has an entry

  // Visits the entries with `begin` <= key < `end` (no upper bound if `end` is empty), in ascending
  // order, in the current state or in `view`.
  using Visitor = std::function<Status(std::string_view key, std::string_view value)>;
  Status ForEach(Table table, std::string_view begin, const View* view, const Visitor& visit,
                 std::string_view end = {}) const;
  // Visits the entries whose keys begin with `prefix`, in the current state.
  Status ForPrefix(Table table, std::string_view prefix, const Visitor& visit) const;
  // Visits the first `prefix_bytes` of all keys that are at least as long, each once, ascending.
  Status ForEachPrefix(Table table, std::size_t prefix_bytes,
                       const std::function<Status(std::string_view prefix)>& visit) const;
  // Visits at most `max_entries` entries, in the current state. Returns the key to continue from;
  // empty if done.
  Result<std::string> ForSome(Table table, std::string_view begin, std::size_t max_entries,
                              const Visitor& visit) const;

  // Writes the contents of the log to table files, so that the log is no longer needed. kIo: it is
  // unknown what survives.
  Status Flush();

  // Reads a file and compares it with what was written. Succeeds if the file no longer belongs to
  // the store. kCorrupt and kIo name it.
  Status CheckTableFile(const TableFile& file) const;
  std::vector<TableFile> TableFiles() const;  // by number
  // If `error` is kCorrupt, returns it with the names of all damaged table files.
  Error NameFiles(Error error) const;
  // Checks the logs and lists of files that this process is writing, as far as they are synced.
  // kCorrupt.
  Status CheckWrittenLogs() const;
  // The torn ends that opening found.
  const std::vector<TornLog>& torn_logs() const;
  // Logs damage that was found, each text once. Reading does so automatically.
  void NoteDamage(const std::string& text) const;
  std::uint64_t damages() const;

  // The damaged end of a log, of a store that no process has open.
  struct LogEnd {
    std::filesystem::path file;
    std::uint64_t at = 0;
    std::string text;                          // describes the damage
    std::vector<std::filesystem::path> later;  // logs with later records
  };
  // nullopt: no log is damaged. kCorrupt: the damage cannot be cut off.
  static Result<std::optional<LogEnd>> FindDamage(const std::filesystem::path& directory);
  // Visits the changes in whole records after the end. For a database opened with kReadDamaged.
  using ChangeVisitor =
      std::function<void(Table table, std::string_view key, std::string_view value)>;
  Status ForLost(const LogEnd& end, const ChangeVisitor& visit) const;
  // Cuts the log off there, durably, after copying everything cut off into a new directory
  // `data_dir`/damaged.N, which is returned.
  static Result<std::filesystem::path> DropBehind(const LogEnd& end,
                                                  const std::filesystem::path& data_dir);

  // Rewrites a table without deleted or overwritten data. Reads and writes continue meanwhile.
  Status Compact(Table table);
  // Returns ascending keys that divide a table into at most `parts` of roughly equal size; fewer if
  // it is small. Reads no disk.
  std::vector<std::string> Cuts(Table table, std::size_t parts) const;
  // The engine's estimate of the bytes of a table's live data, without unflushed data; reads no
  // disk. Files take more, often several times as much.
  std::uint64_t EstimatedBytes(Table table) const;

  // Adds a copy of the current state to the backups in `directory` and verifies it; `attachment` is
  // saved with it. Durable on return. One at a time. kIo, kCorrupt.
  Status Backup(const std::filesystem::path& directory, std::string_view attachment);
  // The attachment of the newest backup, complete or not; nullopt if there is none.
  static Result<std::optional<std::string>> NewestAttachment(
      const std::filesystem::path& directory);
  // Writes the newest backup into `target`, which is created, checking every byte, and returns the
  // backup's attachment. Durable on return. kNotFound: there is none; kCorrupt: it is damaged
  // (older ones are not tried).
  static Result<std::string> Restore(const std::filesystem::path& directory,
                                     const std::filesystem::path& target);

 private:
  struct State;
  explicit Database(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::store

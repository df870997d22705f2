#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace rocksdb {
class FileSystem;
}

namespace fieldcost::store {

// The engine below the store, reduced to what the store needs: ordered tables, atomic synced
// writes, point-in-time views. RocksDB stands behind it (only database*.cc and database_state.h see
// it). All keys compare as unsigned bytes.

enum class Table {
  kRows = 0,
  kInbox = 1,
  kLedger = 2,
  kMeta = 3,
  kHeld = 4,
  kProgress = 5,
  kBatches = 6
};
inline constexpr int kTables = 7;

enum class DatabaseAccess {
  kWrite,
  kRead,         // nothing on the disk is changed
  kReadDamaged,  // as kRead; a damaged log ends where it is damaged
  kWriteCut  // as kWrite, after DropBehind(): the engine's list knows of more logs than there are
};

struct DatabaseOptions {
  std::filesystem::path directory;
  DatabaseAccess access = DatabaseAccess::kWrite;
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

  // Any number of changes, in ascending order of keys in each table, that become visible and
  // durable together, or not at all, by Adopt(). They go to files of their own, past the log and
  // the write buffers, so that other writers do not wait for them, and their number costs no
  // memory. Not thread-safe; one at a time.
  class SortedSet {
   public:
    explicit SortedSet(Database& database);
    ~SortedSet();  // removes the files
    SortedSet(const SortedSet&) = delete;
    SortedSet& operator=(const SortedSet&) = delete;
    // REQUIRES: `key` is after all keys before it in this table. kIo.
    Status Put(Table table, std::string_view key, std::string_view value);
    Status Delete(Table table, std::string_view key);

   private:
    friend class Database;
    struct State;
    std::unique_ptr<State> state_;
  };

  // The state at one moment. REQUIRES: does not outlive its database.
  class View;

  // Looks keys up in ascending order: the cheaper compared with Get(), the more of the table is
  // read, and without filling the block cache. REQUIRES: does not outlive its database. Not
  // thread-safe.
  class Lookup {
   public:
    Lookup(const Database& database, Table table, const View* view);
    ~Lookup();
    // Valid until the next call; nullopt if there is no such entry.
    Result<std::optional<std::string_view>> Find(std::string_view key);

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

  // The end of a log that a crash has torn off: no record that was acknowledged. Opening to write
  // removes it.
  struct TornLog {
    std::filesystem::path file;
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;
  };

  // A file of a table, as the engine's list has it.
  struct TableFile {
    std::filesystem::path path;
    std::string table;         // its name
    std::uint64_t number = 0;  // ascending as files are made
    std::uint64_t bytes = 0;
    std::string checksum;  // of all its bytes; empty if an older program wrote it
  };

  // kIo or kCorrupt, with the directory in the message; kUnsupported: a newer program's. Before it
  // changes anything it checks that logs and lists of files have all that was synced.
  static Result<std::unique_ptr<Database>> Open(const DatabaseOptions& options);
  // Whether there is a database that lacks a table, which opening for writing would create. False
  // if there is none, or if its list of files cannot be read: Open() reports why.
  static bool LacksTables(const DatabaseOptions& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Returns after the changes are in the log and the log is synced. Concurrent callers share a
  // sync: RocksDB's write group appends all their records and syncs once (write leader). kIo: it is
  // not known whether the changes survive.
  Status Write(WriteSet& changes);

  // All of `changes`, durably. Writers wait while the engine notes it, whatever the number of
  // changes. kIo: it is not known whether the changes survive.
  Status Adopt(SortedSet& changes);

  // False after the first write, sync or other operation that failed, also in the background.
  bool healthy() const;

  std::shared_ptr<View> Freeze();

  // Reads the newest state if `view` is null.
  Result<std::optional<std::string>> Get(Table table, std::string_view key,
                                         const View* view = nullptr) const;

  Result<bool> IsEmpty() const;  // no table has an entry

  // Visits the entries with `begin` <= key, and key < `end` unless that is empty, in ascending
  // order, as they are now or in `view`.
  using Visitor = std::function<Status(std::string_view key, std::string_view value)>;
  Status ForEach(Table table, std::string_view begin, const View* view, const Visitor& visit,
                 std::string_view end = {}) const;
  // Those whose keys begin with `prefix`, as they are now.
  Status ForPrefix(Table table, std::string_view prefix, const Visitor& visit) const;
  // The first `prefix_bytes` of the keys that have as many, each once, ascending.
  Status ForEachPrefix(Table table, std::size_t prefix_bytes,
                       const std::function<Status(std::string_view prefix)>& visit) const;
  // Visits at most so many entries, as they are now. Returns the key to continue from; empty if
  // done.
  Result<std::string> ForSome(Table table, std::string_view begin, std::size_t max_entries,
                              const Visitor& visit) const;

  // Writes everything that is in the log to files of tables, so that the log is not needed any
  // more. kIo: it is not known what survives.
  Status Flush();

  // Reads a file and compares it with what was written. Succeeds if it does not belong to the store
  // any more. kCorrupt and kIo name it.
  Status CheckTableFile(const TableFile& file) const;
  std::vector<TableFile> TableFiles() const;  // by number
  // `error` with the names of all files of tables that are damaged, if that is its kind.
  Error NameFiles(Error error) const;
  // Logs and lists of files that this process is writing, as far as they are synced. kCorrupt.
  Status CheckWrittenLogs() const;
  // What opening found.
  const std::vector<TornLog>& torn_logs() const;
  // Logs damage that was met, each text once. Reading does so by itself.
  void NoteDamage(const std::string& text) const;
  std::uint64_t damages() const;

  // Where the log of a store that nobody has open ends, since it is damaged.
  struct LogEnd {
    std::filesystem::path file;
    std::uint64_t at = 0;
    std::string text;                           // what is wrong
    std::vector<std::filesystem::path> behind;  // logs with later records
  };
  // nullopt: no log is damaged. kCorrupt: something is damaged that cannot be cut off.
  static Result<std::optional<LogEnd>> FindDamage(const std::filesystem::path& directory);
  // What the whole records behind the end would have put. For a database opened with kReadDamaged.
  using ChangeVisitor =
      std::function<void(Table table, std::string_view key, std::string_view value)>;
  Status ForLost(const LogEnd& end, const ChangeVisitor& visit) const;
  // Cuts the log off there, durably, after writing copies of everything cut off into a new
  // directory `data_dir`/damaged.N, which is returned.
  static Result<std::filesystem::path> DropBehind(const LogEnd& end,
                                                  const std::filesystem::path& data_dir);

  // Rewrites a table without what is deleted or overwritten. Others may read and write meanwhile.
  Status Compact(Table table);
  // Keys, ascending, that cut a table into at most `parts` of roughly the same size; fewer if it is
  // small. Reads no disk.
  std::vector<std::string> Cuts(Table table, std::size_t parts) const;
  // The engine's estimate of the bytes of a table's live data, without what is not flushed; reads
  // no disk. Files take more, often several times as much.
  std::uint64_t EstimatedBytes(Table table) const;

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

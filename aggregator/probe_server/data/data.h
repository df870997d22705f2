#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "aggregator/probe_server/data/store_files.h"
#include "common/base/result.h"
#include "common/probe/event_store.h"
#include "common/sqlite/sqlite.h"

namespace fieldcost::probe_server {

inline constexpr char kDatabaseName[] = "probe-server.db";
inline constexpr std::uint64_t kSchemaVersion = 1;

// A connection to the server's only database: the tables of README.md, and its events. Not
// thread-safe.
class Data {
 public:
  // kCreate creates missing files; other kinds of access require them. The first program that opens
  // the database for writing compares it with its mark before it changes anything. kCorrupt:
  // acknowledged data is missing, or a file is damaged; all files are left as they are.
  // kUnsupported: the database has another version. Other errors are those of sqlite::Database.
  static Result<std::unique_ptr<Data>> Open(const std::filesystem::path& file,
                                            sqlite::Database::Access access);

  // Commits, updates the mark, and returns once both are on disk. All changes to an open database
  // must be committed by this function.
  Status Commit(sqlite::Transaction& transaction);
  // Runs `work` in its own transaction and commits it as above.
  Status Change(const std::function<Status()>& work);
  // The number of changes ever committed.
  Result<std::uint64_t> Changes();

  sqlite::Database& database() { return database_; }
  probe::EventStore& events() { return *events_; }

 private:
  explicit Data(sqlite::Database database) : database_(std::move(database)) {}

  std::optional<OpenLock> lock_;  // released after the database is closed
  std::optional<Mark> mark_;
  sqlite::Database database_;
  std::unique_ptr<probe::EventStore> events_;
};

// Compares a database that no program has open with its mark. kCorrupt as for Data::Open(). Changes
// nothing.
Status CheckAgainstMark(const std::filesystem::path& file);

}  // namespace fieldcost::probe_server

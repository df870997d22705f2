#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "aggregator/probes/data/store_files.h"
#include "common/base/result.h"
#include "common/probe/event_store.h"
#include "common/sqlite/sqlite.h"

namespace fieldcost::probe_server {

inline constexpr char kDatabaseName[] = "probe-server.db";
inline constexpr std::uint64_t kSchemaVersion = 2;

// A connection to the server's one database: the tables of README.md, and the events in it. Not
// thread-safe.
class Data {
 public:
  // kCreate makes missing files; the others require them. The first program that opens the
  // database for writing compares it with its mark before anything is changed. kCorrupt: it lacks
  // something that was acknowledged, or a file is damaged; everything is left as it is.
  // kUnsupported: another version's; else as sqlite::Database has them.
  static Result<std::unique_ptr<Data>> Open(const std::filesystem::path& file,
                                            sqlite::Database::Access access);

  // Commits, notes it in the mark, and returns once both are on the disk. All changes of an open
  // database are committed by it.
  Status Commit(sqlite::Transaction& transaction);
  // Does the work in a transaction of its own, committed as above.
  Status Change(const std::function<Status()>& work);
  // How many changes were committed, ever.
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

// Compares a database that no program has open with its mark. kCorrupt as Data::Open(). Changes
// nothing.
Status CheckAgainstMark(const std::filesystem::path& file);

}  // namespace fieldcost::probe_server

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

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
  // kCreate makes what is not there; with the others it must be. What is committed is on the disk
  // (WAL, synchronous = FULL). kUnsupported: another version's; else as sqlite::Database has them.
  static Result<std::unique_ptr<Data>> Open(const std::filesystem::path& file,
                                            sqlite::Database::Access access);

  sqlite::Database& database() { return database_; }
  probe::EventStore& events() { return *events_; }

 private:
  explicit Data(sqlite::Database database) : database_(std::move(database)) {}

  sqlite::Database database_;
  std::unique_ptr<probe::EventStore> events_;
};

}  // namespace fieldcost::probe_server

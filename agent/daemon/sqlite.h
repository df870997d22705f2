#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace fieldcost::daemon {

class Database;

// One prepared statement. Errors of preparing and binding are kept and returned by Step(), so that
// calls can follow each other. Must not outlive its Database.
class Statement {
 public:
  // Binds the next parameter. Text and blobs are copied.
  Statement& Int(std::uint64_t value);  // stored as SQLite's signed 64 bits, bit for bit
  Statement& Text(std::string_view value);
  Statement& Blob(std::string_view value);

  // True while there is a row. The accessors below speak of that row.
  Result<bool> Step();
  // For statements without rows.
  Status Run();

  std::uint64_t ColumnInt(int column) const;
  std::string ColumnText(int column) const;  // texts and blobs

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(Database& database, std::string_view sql);

  Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  Status status_;
  int bound_ = 0;
};

// One connection; not thread-safe. Errors: kUnavailable (locked longer than the busy timeout),
// kCorrupt (not a database), kPermissionDenied, kIo (disk full and the like).
class Database {
 public:
  // Creates the file (mode 0600) if it is missing. WAL, synchronous FULL, foreign keys.
  static Result<std::unique_ptr<Database>> Open(const std::filesystem::path& path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Statement Prepare(std::string_view sql) { return Statement(*this, sql); }
  Status Execute(const char* sql);  // any number of statements
  std::uint64_t changes() const;    // rows changed by the last statement

 private:
  friend class Statement;
  explicit Database(std::filesystem::path path) : path_(std::move(path)) {}
  Error ErrorNow(std::string_view action) const;

  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
};

// BEGIN IMMEDIATE ... COMMIT; rolls back if it ends before Commit() succeeded.
class Transaction {
 public:
  static Result<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace fieldcost::daemon

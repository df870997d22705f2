#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace fieldcost::sqlite {

// A prepared statement. Errors of preparing and binding are kept and returned by Step(), so that
// calls can be chained. Not thread-safe; must not outlive its Database's connection.
class Statement {
 public:
  // Binds the next parameter. Text and blobs are copied.
  Statement& Int(std::uint64_t value);  // stored as SQLite's signed 64 bits, bit for bit
  Statement& Text(std::string_view value);
  Statement& Blob(std::string_view value);

  // Returns true if there is another row. The accessors below then refer to it.
  Result<bool> Step();
  // Steps to the end; afterwards the statement can be bound and run again.
  Status Run();
  // Discards the remaining rows, and with them the statement's snapshot of the database; afterwards
  // it can be bound and run again.
  void Reset();

  std::uint64_t ColumnInt(int column) const;
  std::string ColumnText(int column) const;  // text or blob; empty if NULL
  // The same without a copy; valid until the next Step(), Run() or Reset().
  std::string_view ColumnView(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* statement, Status status)
      : statement_(statement), status_(std::move(status)) {}
  void Bound(int code);

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  Status status_;
  int bound_ = 0;
};

// One connection to a database file; waits for other connections' locks up to 20 seconds. Not
// thread-safe. Errors: kNotFound (no such file), kUnavailable (locked for longer), kCorrupt (not a
// database), kPermissionDenied, kTooLarge, kIo (disk full and the like).
class Database {
 public:
  // kCreate creates a missing file with mode 0600, following no link; ":memory:" is not a file.
  // kInspect reads a database and its write-ahead log, which no other program may have open,
  // without locks and without modifying any file.
  enum class Access { kRead, kWrite, kCreate, kInspect };
  // kChecked: each page has a checksum (checked_pages.h), also in a new database.
  enum class Pages { kPlain, kChecked };
  static Result<Database> Open(const std::filesystem::path& path, Access access,
                               Pages pages = Pages::kPlain);

  // Allows many readers concurrently with one writer, persistently and for all connections. Unlike
  // SQLite itself, waits for other connections that are making the same change.
  Status UseWriteAheadLog();

  Status Execute(const char* sql);  // any number of statements
  Statement Prepare(std::string_view sql) const;
  // The single integer that a query returns; 0 if it returns no row.
  Result<std::uint64_t> QueryInt(std::string_view sql) const;
  std::uint64_t changes() const;  // rows changed by the last statement
  bool InTransaction() const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  explicit Database(sqlite3* handle) : handle_(handle) {}

  std::unique_ptr<sqlite3, Close> handle_;
};

// BEGIN IMMEDIATE ... COMMIT; rolls back if destroyed before Commit() succeeds. Must not outlive
// the Database object, which must not be moved meanwhile.
class Transaction {
 public:
  static Result<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  // REQUIRES: it has not succeeded before.
  Status Commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;  // null once committed or moved from
};

}  // namespace fieldcost::sqlite

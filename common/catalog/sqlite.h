#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace fieldcost::catalog {

// A prepared statement. Parameters and columns are SQLite's: parameters from 1, columns from 0. A
// failed Bind is reported by the next Step. Not thread-safe.
class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Statement& BindInt(int parameter, std::int64_t value);
  Statement& BindText(int parameter, std::string_view value);
  Statement& BindBlob(int parameter, std::string_view value);

  // True if there is a (next) row.
  Result<bool> Step();
  // Steps to the end and makes the statement ready for other parameters.
  Status Run();

  std::int64_t Int(int column) const;
  std::string Bytes(int column) const;  // text or blob; empty if NULL

 private:
  sqlite3_stmt* statement_;
  int bind_error_ = 0;
};

// One connection. Waits up to five seconds for another connection's write. Not thread-safe.
class Database {
 public:
  enum class Access { kRead, kReadWriteCreate };
  // kNotFound, kPermissionDenied, kIo, or kCorrupt if the file is not a database.
  static Result<Database> Open(const std::filesystem::path& path, Access access);
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;
  ~Database();

  Status Execute(const char* sql);
  Result<Statement> Prepare(std::string_view sql) const;
  // The single integer a query gives; 0 if it gives no row.
  Result<std::int64_t> QueryInt(std::string_view sql) const;

 private:
  Database(sqlite3* handle, std::string name) : handle_(handle), name_(std::move(name)) {}

  sqlite3* handle_;
  std::string name_;  // for messages
};

// A write transaction; rolled back at the end unless committed.
class Transaction {
 public:
  static Result<Transaction> Begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}
  Database* database_;  // null once committed or moved from
};

}  // namespace fieldcost::catalog

#include "common/catalog/sqlite.h"

#include <sqlite3.h>

#include <limits>
#include <utility>

namespace fieldcost::catalog {
namespace {

constexpr int kBusyTimeoutMs = 5000;

ErrorCode CodeOf(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_CANTOPEN:
      return ErrorCode::kNotFound;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return ErrorCode::kPermissionDenied;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kCorrupt;
    case SQLITE_TOOBIG:
      return ErrorCode::kTooLarge;
    case SQLITE_IOERR:
    case SQLITE_FULL:
      return ErrorCode::kIo;
    default:
      return ErrorCode::kInternal;
  }
}

Error SqliteError(sqlite3* handle, std::string_view action, std::string_view name, int code) {
  const char* why = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  return Fail(CodeOf(code), "{} catalogue {}: {}", action, name, why);
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)), bind_error_(other.bind_error_) {}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::BindInt(int parameter, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_, parameter, value);
  if (code != SQLITE_OK) bind_error_ = code;
  return *this;
}

Statement& Statement::BindText(int parameter, std::string_view value) {
  const int code = sqlite3_bind_text64(statement_, parameter, value.data(), value.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);  // NOLINT
  if (code != SQLITE_OK) bind_error_ = code;
  return *this;
}

Statement& Statement::BindBlob(int parameter, std::string_view value) {
  const char* data = value.empty() ? "" : value.data();
  const int code = sqlite3_bind_blob64(statement_, parameter, data, value.size(),
                                       SQLITE_TRANSIENT);  // NOLINT
  if (code != SQLITE_OK) bind_error_ = code;
  return *this;
}

Result<bool> Statement::Step() {
  const int code = bind_error_ != 0 ? bind_error_ : sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return SqliteError(sqlite3_db_handle(statement_), "use", sqlite3_sql(statement_), code);
}

Status Statement::Run() {
  for (;;) {
    FIELDCOST_ASSIGN(const bool row, Step());
    if (!row) break;
  }
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
  return {};
}

std::int64_t Statement::Int(int column) const { return sqlite3_column_int64(statement_, column); }

std::string Statement::Bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  if (data == nullptr || size <= 0) return {};
  return std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

Result<Database> Database::Open(const std::filesystem::path& path, Access access) {
  const int flags =
      access == Access::kRead ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(handle, path.string());
  if (code != SQLITE_OK) return SqliteError(handle, "open", path.string(), code);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  // The file is opened lazily: this is where a foreign one is noticed.
  FIELDCOST_TRY(database.Execute("PRAGMA schema_version"));
  return database;
}

Database::Database(Database&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), name_(std::move(other.name_)) {}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(name_, other.name_);
  return *this;
}

Database::~Database() { sqlite3_close_v2(handle_); }

Status Database::Execute(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return SqliteError(handle_, "use", name_, code);
  return {};
}

Result<Statement> Database::Prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(handle_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return SqliteError(handle_, "query", name_, code);
  return Statement(statement);
}

Result<std::int64_t> Database::QueryInt(std::string_view sql) const {
  FIELDCOST_ASSIGN(Statement statement, Prepare(sql));
  FIELDCOST_ASSIGN(const bool row, statement.Step());
  return row ? statement.Int(0) : 0;
}

Result<Transaction> Transaction::Begin(Database& database) {
  FIELDCOST_TRY(database.Execute("BEGIN IMMEDIATE"));
  return Transaction(&database);
}

Transaction::Transaction(Transaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

Transaction::~Transaction() {
  // Nothing useful can be done about a failing rollback: closing the connection does it again.
  if (database_ != nullptr) static_cast<void>(database_->Execute("ROLLBACK"));
}

Status Transaction::Commit() {
  FIELDCOST_TRY(database_->Execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace fieldcost::catalog

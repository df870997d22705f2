#include "agent/daemon/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/base/file.h"
#include "common/base/log.h"

namespace fieldcost::daemon {
namespace {

constexpr int kBusyTimeoutMs = 20'000;
constexpr int kWalTries = 200;
constexpr int kWalPauseMs = 10;

ErrorCode CodeOf(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::kUnavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kCorrupt;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return ErrorCode::kPermissionDenied;
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return ErrorCode::kIo;
    default:
      return ErrorCode::kInternal;
  }
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(Database& database, std::string_view sql) : database_(&database) {
  sqlite3_stmt* made = nullptr;
  if (sqlite3_prepare_v2(database.handle_, sql.data(), static_cast<int>(sql.size()), &made,
                         nullptr) != SQLITE_OK) {
    status_ = database.ErrorNow("prepare");
  }
  statement_.reset(made);
}

Statement& Statement::Int(std::uint64_t value) {
  if (status_ && sqlite3_bind_int64(statement_.get(), ++bound_,
                                    static_cast<sqlite3_int64>(value)) != SQLITE_OK) {
    status_ = database_->ErrorNow("bind");
  }
  return *this;
}

Statement& Statement::Text(std::string_view value) {
  if (status_ && sqlite3_bind_text(statement_.get(), ++bound_, value.empty() ? "" : value.data(),
                                   static_cast<int>(value.size()), SQLITE_TRANSIENT) != SQLITE_OK) {
    status_ = database_->ErrorNow("bind");
  }
  return *this;
}

Statement& Statement::Blob(std::string_view value) {
  if (status_ && sqlite3_bind_blob(statement_.get(), ++bound_, value.empty() ? "" : value.data(),
                                   static_cast<int>(value.size()), SQLITE_TRANSIENT) != SQLITE_OK) {
    status_ = database_->ErrorNow("bind");
  }
  return *this;
}

Result<bool> Statement::Step() {
  if (!status_) return status_.error();
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  status_ = database_->ErrorNow("use");
  return status_.error();
}

Status Statement::Run() {
  for (;;) {
    FIELDCOST_ASSIGN(const bool more, Step());
    if (!more) return {};
  }
}

std::uint64_t Statement::ColumnInt(int column) const {
  return static_cast<std::uint64_t>(sqlite3_column_int64(statement_.get(), column));
}

std::string Statement::ColumnText(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (size > 0) std::memcpy(text.data(), bytes, text.size());
  return text;
}

Result<std::unique_ptr<Database>> Database::Open(const std::filesystem::path& path) {
  {
    // Made here rather than by SQLite, for the mode.
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.valid()) return ErrnoError("open", path, errno);
  }
  std::unique_ptr<Database> database(new Database(path));
  if (sqlite3_open_v2(path.c_str(), &database->handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                      nullptr) != SQLITE_OK) {
    return database->ErrorNow("open");
  }
  sqlite3_busy_timeout(database->handle_, kBusyTimeoutMs);
  sqlite3_extended_result_codes(database->handle_, 1);
  // Switching a new file to WAL does not wait for others who do the same at this moment.
  Status wal = database->Execute("PRAGMA journal_mode = WAL");
  for (int i = 0; i < kWalTries && !wal && wal.error().code == ErrorCode::kUnavailable; ++i) {
    sqlite3_sleep(kWalPauseMs);
    wal = database->Execute("PRAGMA journal_mode = WAL");
  }
  FIELDCOST_TRY(wal);
  FIELDCOST_TRY(database->Execute("PRAGMA synchronous = FULL"));
  FIELDCOST_TRY(database->Execute("PRAGMA foreign_keys = ON"));
  return database;
}

Database::~Database() { sqlite3_close_v2(handle_); }

Status Database::Execute(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return ErrorNow("use");
  return {};
}

std::uint64_t Database::changes() const {
  return static_cast<std::uint64_t>(sqlite3_changes64(handle_));
}

Error Database::ErrorNow(std::string_view action) const {
  return Fail(CodeOf(sqlite3_errcode(handle_)), "{} {}: {}", action, path_.string(),
              sqlite3_errmsg(handle_));
}

Result<Transaction> Transaction::Begin(Database& database) {
  FIELDCOST_TRY(database.Execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_ == nullptr) return;
  const Status status = database_->Execute("ROLLBACK");
  if (!status) LogWarning("roll back: {}", status.error().message);
}

Status Transaction::Commit() {
  FIELDCOST_TRY(database_->Execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace fieldcost::daemon

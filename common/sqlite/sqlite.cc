#include "common/sqlite/sqlite.h"

#include <fcntl.h>
#include <sqlite3.h>

#include <cerrno>
#include <string>

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/sqlite/checked_pages.h"

namespace fieldcost::sqlite {
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
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return ErrorCode::kPermissionDenied;
    case SQLITE_CANTOPEN:
      return ErrorCode::kNotFound;
    case SQLITE_TOOBIG:
      return ErrorCode::kTooLarge;
    case SQLITE_FULL:
    case SQLITE_IOERR:
      return ErrorCode::kIo;
    default:
      return ErrorCode::kInternal;
  }
}

Error ErrorOf(sqlite3* handle, std::string_view action, const std::filesystem::path& path,
              int code) {
  // SQLite uses the same code for a lack of file descriptors as for a missing file.
  if ((code & 0xff) == SQLITE_CANTOPEN) {
    Error error = ErrnoError(action, path, sqlite3_system_errno(handle));
    if (error.code == ErrorCode::kUnavailable) return error;
  }
  return Fail(CodeOf(code), "{} {}: {}", action, path.string(), sqlite3_errmsg(handle));
}

Error ErrorOf(sqlite3* handle, std::string_view action, int code) {
  return ErrorOf(handle, action, sqlite3_db_filename(handle, "main"), code);
}

// Arguments of sqlite3_open_v2() for a file.
struct Place {
  std::string uri;
  const char* vfs = nullptr;
};

Place PlaceOf(const std::filesystem::path& path, Database::Access access, Database::Pages pages) {
  const bool checked = pages == Database::Pages::kChecked;
  if (checked) RegisterCheckedPages();
  if (path == ":memory:") return {path.string(), nullptr};
  std::string uri = "file:";
  for (const char c : path.string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += c == '%' ? "%25" : (c == '?' ? "%3f" : "%23");
    } else {
      uri += c;
    }
  }
  if (access != Database::Access::kInspect) return {uri, checked ? kCheckedPages : nullptr};
  std::error_code error;
  const auto log_bytes = std::filesystem::file_size(path.string() + "-wal", error);
  // Without a log, SQLite would create one.
  if (error || log_bytes == 0) uri += "?immutable=1";
  return {uri, checked ? kCheckedPagesAlone : "unix-none"};
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::Bound(int code) {
  if (code != SQLITE_OK) status_ = ErrorOf(sqlite3_db_handle(statement_.get()), "bind", code);
}

Statement& Statement::Int(std::uint64_t value) {
  if (status_) {
    Bound(sqlite3_bind_int64(statement_.get(), ++bound_, static_cast<sqlite3_int64>(value)));
  }
  return *this;
}

Statement& Statement::Text(std::string_view value) {
  if (status_) {
    Bound(sqlite3_bind_text64(statement_.get(), ++bound_, value.empty() ? "" : value.data(),
                              value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  return *this;
}

Statement& Statement::Blob(std::string_view value) {
  if (status_) {
    Bound(sqlite3_bind_blob64(statement_.get(), ++bound_, value.empty() ? "" : value.data(),
                              value.size(), SQLITE_TRANSIENT));
  }
  return *this;
}

Result<bool> Statement::Step() {
  if (!status_) return status_.error();
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  status_ = ErrorOf(sqlite3_db_handle(statement_.get()), "use", code);
  return status_.error();
}

Status Statement::Run() {
  for (;;) {
    FIELDCOST_ASSIGN(const bool more, Step());
    if (!more) break;
  }
  Reset();
  return {};
}

void Statement::Reset() {
  if (!status_) return;  // an earlier error stays
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  bound_ = 0;
}

std::uint64_t Statement::ColumnInt(int column) const {
  return static_cast<std::uint64_t>(sqlite3_column_int64(statement_.get(), column));
}

std::string Statement::ColumnText(int column) const { return std::string(ColumnView(column)); }

std::string_view Statement::ColumnView(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr || size <= 0) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Result<Database> Database::Open(const std::filesystem::path& path, Access access, Pages pages) {
  if (access == Access::kCreate && path != ":memory:") {
    // Created here rather than by SQLite, in order to set the mode.
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.valid()) return ErrnoError("open", path, errno);
  }
  const bool reads_only = access == Access::kRead || access == Access::kInspect;
  const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI |
                    (reads_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE);
  const Place place = PlaceOf(path, access, pages);
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(place.uri.c_str(), &handle, flags, place.vfs);
  Database database(handle);
  if (code != SQLITE_OK) return ErrorOf(handle, "open", path, code);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  sqlite3_extended_result_codes(handle, 1);
  if (pages == Pages::kChecked) {
    int reserved = kPageChecksumBytes;
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
    FIELDCOST_TRY(database.Execute("PRAGMA page_size = 4096"));
  }
  if (access == Access::kInspect) {
    sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    // This keeps the log's index in this process's memory.
    FIELDCOST_TRY(database.Execute("PRAGMA locking_mode = EXCLUSIVE"));
  }
  // SQLite reads the file lazily. This detects files that are not databases.
  FIELDCOST_TRY(database.Execute("PRAGMA schema_version"));
  return database;
}

Status Database::UseWriteAheadLog() {
  Status status = Execute("PRAGMA journal_mode = WAL");
  for (int i = 0; i < kWalTries && !status && status.error().code == ErrorCode::kUnavailable; ++i) {
    sqlite3_sleep(kWalPauseMs);
    status = Execute("PRAGMA journal_mode = WAL");
  }
  return status;
}

Status Database::Execute(const char* sql) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return ErrorOf(handle_.get(), "use", code);
  return {};
}

Statement Database::Prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, nullptr);
  Status status;
  if (code != SQLITE_OK) status = ErrorOf(handle_.get(), "query", code);
  return Statement(statement, std::move(status));
}

Result<std::uint64_t> Database::QueryInt(std::string_view sql) const {
  Statement statement = Prepare(sql);
  FIELDCOST_ASSIGN(const bool has_row, statement.Step());
  return has_row ? statement.ColumnInt(0) : 0;
}

std::uint64_t Database::changes() const {
  return static_cast<std::uint64_t>(sqlite3_changes64(handle_.get()));
}

bool Database::InTransaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }

Result<Transaction> Transaction::Begin(Database& database) {
  FIELDCOST_TRY(database.Execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  // After some errors (a full disk, for example) SQLite has already rolled back.
  if (database_ == nullptr || !database_->InTransaction()) return;
  const Status status = database_->Execute("ROLLBACK");
  if (!status) LogWarning("roll back: {}", status.error().message);
}

Status Transaction::Commit() {
  FIELDCOST_CHECK(database_ != nullptr);
  FIELDCOST_TRY(database_->Execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace fieldcost::sqlite

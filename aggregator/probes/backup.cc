#include "aggregator/probes/backup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/file.h"

namespace fieldcost::probe_server {
namespace {

// Refuses a database that does not exist: SQLite's own words would be no help.
Status CheckThere(const std::filesystem::path& database) {
  std::error_code error;
  if (std::filesystem::is_regular_file(database, error)) return {};
  return Fail(ErrorCode::kNotFound,
              "open {}: there is no such file; the server's first start makes it",
              database.string());
}

Result<std::string> FirstProblem(sqlite::Database& database) {
  sqlite::Statement check = database.Prepare("PRAGMA integrity_check(1)");
  FIELDCOST_ASSIGN(const bool has_row, check.Step());
  const std::string found = has_row ? check.ColumnText(0) : "it gave no answer";
  if (found != "ok") return found;
  FIELDCOST_ASSIGN(const std::uint64_t hits, database.QueryInt("SELECT count(*) FROM hit"));
  FIELDCOST_ASSIGN(const std::uint64_t told,
                   database.QueryInt("SELECT ifnull(sum(hits), 0) FROM event"));
  if (hits != told) {
    return fmt::format("there are {} points, but the events have {}", hits, told);
  }
  return std::string();
}

}  // namespace

Result<std::filesystem::path> BackUp(const std::filesystem::path& database,
                                     const std::filesystem::path& directory) {
  FIELDCOST_TRY(CheckThere(database));
  FIELDCOST_TRY(MakeDirectories(directory, 0700));
  const std::filesystem::path target = directory / kDatabaseName;
  std::error_code error;
  if (std::filesystem::exists(target, error)) {
    return Fail(ErrorCode::kAlreadyExists,
                "back up to {}: it already exists; choose another directory", target.string());
  }
  FIELDCOST_ASSIGN(const std::unique_ptr<Data> data,
                   Data::Open(database, sqlite::Database::Access::kWrite));
  const ::mode_t before = ::umask(0077);
  const Status status = data->database().Prepare("VACUUM INTO ?").Text(target.string()).Run();
  ::umask(before);
  if (!status) {
    std::filesystem::remove(target, error);
    return Within(status.error(), "back up to " + target.string());
  }
  FIELDCOST_ASSIGN(const VerifyReport report, Verify(target));
  if (!report.problem.empty()) {
    return Fail(ErrorCode::kCorrupt, "back up to {}: {}", target.string(), report.problem);
  }
  const UniqueFd fd(::open(target.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0) return ErrnoError("sync", target, errno);
  FIELDCOST_TRY(SyncDirectory(directory));
  return target;
}

Result<VerifyReport> Verify(const std::filesystem::path& database) {
  FIELDCOST_TRY(CheckThere(database));
  FIELDCOST_ASSIGN(const std::unique_ptr<Data> data,
                   Data::Open(database, sqlite::Database::Access::kWrite));
  VerifyReport report;
  FIELDCOST_ASSIGN(report.problem, FirstProblem(data->database()));
  FIELDCOST_ASSIGN(report.size, data->events().Measure());
  FIELDCOST_ASSIGN(report.users, data->database().QueryInt("SELECT count(*) FROM user"));
  FIELDCOST_ASSIGN(report.devices, data->database().QueryInt("SELECT count(*) FROM device"));
  FIELDCOST_ASSIGN(report.batches, data->database().QueryInt("SELECT count(*) FROM ledger"));
  return report;
}

}  // namespace fieldcost::probe_server

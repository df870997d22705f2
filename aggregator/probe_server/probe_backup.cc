#include "aggregator/probe_server/probe_backup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/base/file.h"

namespace fieldcost::probe_server {
namespace {

using Access = sqlite::Database::Access;

bool IsThere(const std::filesystem::path& file) {
  std::error_code error;
  return std::filesystem::is_regular_file(file, error);
}

// Refuses a nonexistent database, because SQLite's own message would not help.
Status CheckThere(const std::filesystem::path& database) {
  if (IsThere(database)) return {};
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

Result<VerifyReport> VerifyOpen(Data& data) {
  VerifyReport report;
  FIELDCOST_ASSIGN(report.problem, FirstProblem(data.database()));
  FIELDCOST_ASSIGN(report.size, data.events().Measure());
  FIELDCOST_ASSIGN(report.users, data.database().QueryInt("SELECT count(*) FROM user"));
  FIELDCOST_ASSIGN(report.devices, data.database().QueryInt("SELECT count(*) FROM device"));
  FIELDCOST_ASSIGN(report.batches, data.database().QueryInt("SELECT count(*) FROM ledger"));
  return report;
}

Status SyncFile(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0) return ErrnoError("sync", file, errno);
  return {};
}

// Copies with mode 0600 and syncs.
Status CopyFile(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  const ::mode_t before = ::umask(0077);
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, error);
  ::umask(before);
  if (error) return ErrnoError("copy to", to, error.value());
  return SyncFile(to);
}

Status RefuseInUse(const std::filesystem::path& database) {
  return Fail(ErrorCode::kUnavailable, "use {}: a server or a command has it open; stop it first",
              database.string());
}

// Copies all files of the database to a new directory next to it.
Result<std::filesystem::path> KeepEvidence(const std::filesystem::path& database) {
  std::error_code error;
  std::filesystem::path directory;
  for (int i = 1; directory.empty() || std::filesystem::exists(directory, error); ++i) {
    directory = database.parent_path() / fmt::format("damaged.{}", i);
  }
  FIELDCOST_TRY(MakeDirectories(directory, 0700));
  for (const std::filesystem::path& file : {database, LogFileOf(database), MarkFileOf(database)}) {
    if (IsThere(file)) FIELDCOST_TRY(CopyFile(file, directory / file.filename()));
  }
  FIELDCOST_TRY(SyncDirectory(directory));
  FIELDCOST_TRY(SyncDirectory(database.parent_path()));
  return directory;
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
  FIELDCOST_ASSIGN(const std::unique_ptr<Data> data, Data::Open(database, Access::kWrite));
  const ::mode_t before = ::umask(0077);
  const Status status = data->database().Prepare("VACUUM INTO ?").Text(target.string()).Run();
  ::umask(before);
  if (!status) {
    std::filesystem::remove(target, error);
    return Within(status.error(), "back up to " + target.string());
  }
  FIELDCOST_TRY(VerifyBackup(target).transform([](const VerifyReport&) {}));
  FIELDCOST_TRY(SyncFile(target));
  FIELDCOST_TRY(SyncDirectory(directory));
  return target;
}

Status Restore(const std::filesystem::path& directory, const std::filesystem::path& database) {
  const std::filesystem::path backup = directory / kDatabaseName;
  if (!IsThere(backup)) {
    return Fail(ErrorCode::kNotFound, "restore {}: there is no such file", backup.string());
  }
  FIELDCOST_TRY(MakeDirectories(database.parent_path(), 0700));
  FIELDCOST_ASSIGN(const OpenLock lock, OpenLock::Take(database));
  if (!lock.is_alone()) return RefuseInUse(database);
  for (const std::filesystem::path& file : {database, LogFileOf(database)}) {
    if (!IsThere(file)) continue;
    return Fail(ErrorCode::kAlreadyExists, "restore to {}: it already exists; move it away first",
                file.string());
  }
  const std::filesystem::path unfinished = database.string() + ".unfinished";
  FIELDCOST_TRY(CopyFile(backup, unfinished));
  FIELDCOST_TRY(VerifyBackup(unfinished).transform([](const VerifyReport&) {}));
  std::uint64_t changes = 0;
  {
    FIELDCOST_ASSIGN(const std::unique_ptr<Data> data, Data::Open(unfinished, Access::kInspect));
    FIELDCOST_ASSIGN(changes, data->Changes());
  }
  std::error_code error;
  std::filesystem::remove(MarkFileOf(database), error);
  FIELDCOST_ASSIGN(Mark mark, Mark::Open(database));
  FIELDCOST_TRY(mark.Write(changes));
  std::filesystem::rename(unfinished, database, error);
  if (error) return ErrnoError("rename to", database, error.value());
  return SyncDirectory(database.parent_path());
}

Result<VerifyReport> Verify(const std::filesystem::path& database) {
  FIELDCOST_ASSIGN(const OpenLock lock, OpenLock::TakeToLook(database));
  if (lock.is_alone()) FIELDCOST_TRY(CheckAgainstMark(database));
  FIELDCOST_TRY(CheckThere(database));
  // Read first, so that a change acknowledged later does not seem to be missing.
  FIELDCOST_ASSIGN(const std::optional<std::uint64_t> mark, Mark::Read(database));
  FIELDCOST_ASSIGN(const std::unique_ptr<Data> data,
                   Data::Open(database, lock.is_alone() ? Access::kInspect : Access::kRead));
  FIELDCOST_ASSIGN(VerifyReport report, VerifyOpen(*data));
  FIELDCOST_ASSIGN(const std::uint64_t changes, data->Changes());
  if (report.problem.empty() && changes < mark.value_or(0)) {
    report.problem = fmt::format("{} changes were acknowledged, but it has {}", *mark, changes);
  }
  return report;
}

Result<VerifyReport> VerifyBackup(const std::filesystem::path& file) {
  FIELDCOST_ASSIGN(const std::unique_ptr<Data> data, Data::Open(file, Access::kInspect));
  FIELDCOST_ASSIGN(VerifyReport report, VerifyOpen(*data));
  if (report.problem.empty()) return report;
  return Fail(ErrorCode::kCorrupt, "verify {}: {}", file.string(), report.problem);
}

Result<RecoverReport> Recover(const std::filesystem::path& database, bool accepts_loss) {
  FIELDCOST_TRY(CheckThere(database));
  FIELDCOST_ASSIGN(const OpenLock lock, OpenLock::Take(database));
  if (!lock.is_alone()) return RefuseInUse(database).error();
  RecoverReport report{.is_damaged = !CheckAgainstMark(database)};
  if (const auto mark = Mark::Read(database)) report.acknowledged = mark->value_or(0);
  {
    FIELDCOST_ASSIGN(const std::unique_ptr<Data> data, Data::Open(database, Access::kInspect));
    FIELDCOST_ASSIGN(report.found, data->Changes());
  }
  if (!report.is_damaged || !accepts_loss) return report;
  FIELDCOST_ASSIGN(report.evidence, KeepEvidence(database));
  std::error_code error;
  std::filesystem::remove(MarkFileOf(database), error);
  FIELDCOST_ASSIGN(Mark mark, Mark::Open(database));
  FIELDCOST_TRY(mark.Write(report.found));
  return report;
}

}  // namespace fieldcost::probe_server

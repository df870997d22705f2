#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::probe_server {

// The files next to the database: PATH.lock, which shows whether a program has it open, and
// PATH.mark, which holds the number of acknowledged changes. SQLite ends its write-ahead log at the
// first damaged frame and drops the rest, so only the mark distinguishes a torn end from lost data.

// The files that belong to a database.
std::filesystem::path LockFileOf(const std::filesystem::path& database);
std::filesystem::path MarkFileOf(const std::filesystem::path& database);
std::filesystem::path LogFileOf(const std::filesystem::path& database);

// Held while a database is open for writing. Many programs can hold it together; the first one has
// it exclusively until it calls Share(), so that it can inspect the files before they are changed.
class OpenLock {
 public:
  // Waits while another program holds it exclusively.
  static Result<OpenLock> Take(const std::filesystem::path& database);
  // For inspection without changes. is_alone() is true if no program has the database open; none
  // can then open it during the inspection. Creates no file.
  static Result<OpenLock> TakeToLook(const std::filesystem::path& database);

  bool is_alone() const { return is_alone_; }
  // Lets other programs open the database. REQUIRES: the lock was obtained by Take().
  Status Share();

 private:
  OpenLock(UniqueFd fd, bool is_alone) : fd_(std::move(fd)), is_alone_(is_alone) {}
  UniqueFd fd_;
  bool is_alone_ = false;
};

// The number of acknowledged changes. Written and synced after each commit, before its
// acknowledgement.
class Mark {
 public:
  // Creates the file, containing 0, if it does not exist.
  static Result<Mark> Open(const std::filesystem::path& database);
  // nullopt if there is no file. kCorrupt: it is damaged.
  static Result<std::optional<std::uint64_t>> Read(const std::filesystem::path& database);

  Status Write(std::uint64_t changes);

 private:
  Mark(UniqueFd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}
  UniqueFd fd_;
  std::filesystem::path path_;
};

}  // namespace fieldcost::probe_server

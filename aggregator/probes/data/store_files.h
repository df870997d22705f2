#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::probe_server {

// What lies beside the database: PATH.lock, which shows who has it open, and PATH.mark, how many
// changes were acknowledged. The write-ahead log of SQLite ends at the first frame that is damaged
// and forgets what follows, so only the mark distinguishes a torn end from lost data.

// The files that belong to a database.
std::filesystem::path LockFileOf(const std::filesystem::path& database);
std::filesystem::path MarkFileOf(const std::filesystem::path& database);
std::filesystem::path LogFileOf(const std::filesystem::path& database);

// Held while a database is open for writing. Many hold it together; the first one is alone until it
// calls Share(), so that it can look at the files before anybody changes them.
class OpenLock {
 public:
  // Waits for others that are alone.
  static Result<OpenLock> Take(const std::filesystem::path& database);
  // Held for a look that changes nothing, if no program has the database open (is_alone()); keeps
  // others from opening it meanwhile. Makes no file.
  static Result<OpenLock> TakeToLook(const std::filesystem::path& database);

  bool is_alone() const { return is_alone_; }
  // Lets others in. REQUIRES: it was made by Take().
  Status Share();

 private:
  OpenLock(UniqueFd fd, bool is_alone) : fd_(std::move(fd)), is_alone_(is_alone) {}
  UniqueFd fd_;
  bool is_alone_ = false;
};

// The number of changes that were acknowledged. Written after each commit and before its
// acknowledgement, and synced.
class Mark {
 public:
  // Makes the file, with 0, if there is none.
  static Result<Mark> Open(const std::filesystem::path& database);
  // Nothing if there is no file. kCorrupt: it is damaged.
  static Result<std::optional<std::uint64_t>> Read(const std::filesystem::path& database);

  Status Write(std::uint64_t changes);

 private:
  Mark(UniqueFd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}
  UniqueFd fd_;
  std::filesystem::path path_;
};

}  // namespace fieldcost::probe_server

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "aggregator/probe_server/data/data.h"
#include "common/base/result.h"

namespace fieldcost::probe_server {

// Writes the whole database to a new file in `directory`, which it creates, and checks the file
// with VerifyBackup(). May run while a server is running. kAlreadyExists: there is already a
// backup.
Result<std::filesystem::path> BackUp(const std::filesystem::path& database,
                                     const std::filesystem::path& directory);

// Restores the backup in `directory` to `database`, which must not exist, once the copy is verified
// and on disk. kAlreadyExists: there is a database; kUnavailable: a server uses this path;
// kCorrupt: the backup is damaged.
Status Restore(const std::filesystem::path& directory, const std::filesystem::path& database);

struct VerifyReport {
  probe::EventStore::Size size;
  std::uint64_t users = 0;
  std::uint64_t devices = 0;
  std::uint64_t batches = 0;
  std::string problem;  // the first one found; empty: none
};
// Reads everything, even while a server is running; changes no byte of any file. Errors: the
// database cannot be opened or (kCorrupt) read.
Result<VerifyReport> Verify(const std::filesystem::path& database);
// The same for a file written by BackUp().
Result<VerifyReport> VerifyBackup(const std::filesystem::path& file);

struct RecoverReport {
  bool is_damaged = false;
  std::uint64_t acknowledged = 0;  // changes; 0: unknown
  std::uint64_t found = 0;
  std::filesystem::path evidence;  // directory of the copied files; empty: nothing was done
};
// Reports how many acknowledged changes a database lacks. If `accepts_loss`, copies its files to a
// new directory next to it and then sets the mark to the remaining changes. kCorrupt: the database
// itself cannot be read, so only a backup helps; kUnavailable: a server uses it.
Result<RecoverReport> Recover(const std::filesystem::path& database, bool accepts_loss);

}  // namespace fieldcost::probe_server

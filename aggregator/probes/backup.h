#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "aggregator/probes/data/data.h"
#include "common/base/result.h"

namespace fieldcost::probe_server {

// Writes all of the database into a new file in the directory, which it makes, and reads it back
// with VerifyBackup(); may run beside a server. kAlreadyExists: there is one.
Result<std::filesystem::path> BackUp(const std::filesystem::path& database,
                                     const std::filesystem::path& directory);

// Puts the backup in the directory in the place of a database that does not exist, once the copy is
// verified and on the disk. kAlreadyExists: there is a database; kUnavailable: a server uses the
// place; kCorrupt: the backup is damaged.
Status Restore(const std::filesystem::path& directory, const std::filesystem::path& database);

struct VerifyReport {
  probe::EventStore::Size size;
  std::uint64_t users = 0;
  std::uint64_t devices = 0;
  std::uint64_t batches = 0;
  std::string problem;  // the first one; empty: all is good
};
// Reads everything, also beside a server; changes no byte of any file. Errors: it cannot be opened,
// or (kCorrupt) not read.
Result<VerifyReport> Verify(const std::filesystem::path& database);
// The same of a file of BackUp().
Result<VerifyReport> VerifyBackup(const std::filesystem::path& file);

struct RecoverReport {
  bool is_damaged = false;
  std::uint64_t acknowledged = 0;  // changes; 0: not known
  std::uint64_t found = 0;
  std::filesystem::path evidence;  // where the files were copied to; empty: nothing was done
};
// Looks what a database lacks that was acknowledged. If `accepts_loss`, copies its files to a new
// directory beside it, and then marks what is there as all there is. kCorrupt: the database itself
// cannot be read, so only a backup helps; kUnavailable: a server uses it.
Result<RecoverReport> Recover(const std::filesystem::path& database, bool accepts_loss);

}  // namespace fieldcost::probe_server

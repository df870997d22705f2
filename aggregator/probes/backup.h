#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "aggregator/probes/data/data.h"
#include "common/base/result.h"

namespace fieldcost::probe_server {

// Writes all of the database into a new file in the directory, which it makes, and reads it back
// with Verify(); may run beside a server. The file can take the place of the database that it was
// made of. kAlreadyExists: there is one.
Result<std::filesystem::path> BackUp(const std::filesystem::path& database,
                                     const std::filesystem::path& directory);

struct VerifyReport {
  probe::EventStore::Size size;
  std::uint64_t users = 0;
  std::uint64_t devices = 0;
  std::uint64_t batches = 0;
  std::string problem;  // the first one; empty: all is good
};
// Reads everything, changes nothing. Errors: it cannot be opened.
Result<VerifyReport> Verify(const std::filesystem::path& database);

}  // namespace fieldcost::probe_server

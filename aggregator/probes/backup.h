#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "aggregator/probes/data/data.h"
#include "common/base/result.h"

namespace fieldcost::probe_server {

// Writes all of the database into a new file of that directory, which is made, beside a running
// server; and reads it back: Verify(). The file is a database that can be put in the place of the
// one that it was made of. kAlreadyExists: there is one.
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

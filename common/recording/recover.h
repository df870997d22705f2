#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/base/result.h"
#include "common/recording/verify.h"

namespace fieldcost::recording {

struct RecoverReport {
  VerifyReport found;  // what Verify() says of the file as it is
  std::uint64_t kept_bytes = 0;
  std::uint64_t lost_bytes = 0;  // behind them, but for an index
  std::uint64_t kept_samples = 0;
  std::string reason;  // why no more could be kept; empty if nothing was lost
};

// Writes what is good of `from`, up to its first problem, as a whole recording with an index to
// `to`, mode 0600, in the place of a file that is there; afterwards `to` passes Verify(). `from`
// stays as it is. kInvalidArgument if both are one file.
Result<RecoverReport> Recover(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace fieldcost::recording

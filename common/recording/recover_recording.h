#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/base/result.h"
#include "common/recording/verify_recording.h"

namespace fieldcost::recording {

struct RecoverReport {
  VerifyReport found;  // the result of Verify() for the original file
  std::uint64_t kept_bytes = 0;
  std::uint64_t lost_bytes = 0;  // after the kept ones, excluding an index
  std::uint64_t kept_samples = 0;
  std::string reason;  // why no more could be kept; empty if nothing was lost
};

// Writes the intact part of `from`, up to its first problem, as a complete recording with an index
// to `to` (mode 0600), replacing an existing file. `to` then passes Verify(). `from` is not
// modified. kInvalidArgument if both are the same file.
Result<RecoverReport> Recover(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace fieldcost::recording

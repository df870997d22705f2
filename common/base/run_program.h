#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace fieldcost {

struct CommandResult {
  int exit_status = -1;  // -1: ended by a signal
  std::string output;    // stdout
};

// Runs a program (absolute path, no shell) with a fixed environment (PATH, LC_ALL=C) and no input;
// discards its stderr. kNotFound if it cannot be started; kTooLarge or kDeadlineExceeded if it
// exceeds a limit: the child is then killed and reaped.
Result<CommandResult> RunCommand(const std::vector<std::string>& arguments,
                                 std::size_t max_output_bytes, std::chrono::milliseconds limit);

}  // namespace fieldcost

#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/base/run_input.h"
#include "common/command/arguments.h"

namespace fieldcost::cli {

// Two programs that are run alternately.
struct TwoCommands {
  struct Command {
    std::string name;  // "old", "new"
    std::vector<std::string> words;
  };
  std::array<Command, 2> both;
};

// Two command lines with "--" between them, for the command `usage` ("fieldcost tree compare").
// kInvalidArgument, kNotFound.
Result<TwoCommands> SplitCommands(const std::vector<std::string>& words, std::string_view usage);

// The standard input of all runs of both, by --input, --runs and --show-output; remarks on it.
// Errors of RunInput::Open.
Result<RunInput> InputOfBoth(const command::Arguments& arguments);

}  // namespace fieldcost::cli

#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

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

}  // namespace fieldcost::cli

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/command/command.h"

namespace fieldcost::command {

// A command line, separated into commands, options with their values, and operands. Whether these
// are valid together is not checked here.
struct Line {
  // A word that is neither an option, nor a command, nor an operand.
  struct Unknown {
    std::string word;
    std::size_t path_size = 0;  // the size of `path` before the word
  };

  std::vector<const Command*> path;  // from the program to the command
  // The values of each option and operand on the line; a flag has none.
  std::map<const Option*, std::vector<std::string>> given;
  std::optional<Unknown> unknown;  // the first one
  Status status;  // kInvalidArgument for the first option without a value, or flag with one
};

// Separates `words`, which contain no "--", as GNU programs do: "--name VALUE", "--name=VALUE",
// "-n VALUE", "-nVALUE"; flags may be joined ("-qv"). The word after an option is its value even if
// it begins with a dash. "-" and negative numbers are operands. REQUIRES: `program` outlives the
// result.
Line ReadLine(const Command& program, const std::vector<std::string>& words);

}  // namespace fieldcost::command

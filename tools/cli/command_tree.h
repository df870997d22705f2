#pragma once

#include <string>
#include <vector>

namespace fieldcost::cli {

// The command line as data, taken from the parser itself: what completion offers and what the
// manual pages are compared with.

struct OptionInfo {
  std::vector<std::string> names;  // "--limit", "-v"; one name without dashes = positional
  std::string description;
  bool takes_value = false;
  bool repeats = false;              // of a positional: more of the same may follow
  std::string type;                  // "FILE", "API", ...; empty without value
  std::vector<std::string> choices;  // the only values, if they are few
};

struct CommandInfo {
  std::string name;
  std::string description;
  std::vector<OptionInfo> options;
  std::vector<OptionInfo> positionals;
  std::vector<CommandInfo> commands;
};

// `fieldcost` itself, and below it every command.
CommandInfo DescribeCommands();

}  // namespace fieldcost::cli

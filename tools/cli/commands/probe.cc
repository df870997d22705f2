#include <algorithm>
#include <iterator>
#include <utility>

#include "tools/cli/commands.h"

namespace fieldcost::cli {

command::Command ProbeCommand() {
  std::vector<command::Command> commands = {ProbeRunCommand()};
  std::ranges::move(ProbeViewCommands(), std::back_inserter(commands));
  std::ranges::move(std::vector{ProbeStatusCommand(), ProbeLoginCommand(), ProbeLogoutCommand(),
                                ProbeOnCommand(), ProbeOffCommand(), ProbeFlushCommand()},
                    std::back_inserter(commands));
  return {.name = "probe",
          .summary = "Probe points: where the time between named steps goes, run after run",
          .help = R"(Examples:
  fieldcost probe run --local --tag cold --runs 10 -- ./editor
  fieldcost probe list --label index_open
  fieldcost probe show last
  fieldcost probe compare tag:cold tag:warm --label index_open
  fieldcost probe compare build:1.2 build:1.3 --fail-above 10%
  fieldcost probe login https://probes.team.example && fieldcost probe on)",
          .commands = std::move(commands)};
}

}  // namespace fieldcost::cli

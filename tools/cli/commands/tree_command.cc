// `fieldcost tree`: the commands of call trees.
#include "tools/cli/cli_commands.h"

namespace fieldcost::cli {

command::Command TreeCommand() {
  return {.name = "tree",
          .summary = "Call trees: show, add, compare, slice by time",
          .help = R"(Examples:
  fieldcost tree show a.fct --metric wall
  fieldcost tree diff old.fct new.fct)",
          .commands = {TreeShowCommand(), TreeAtCommand(), TreeAddCommand(), TreeAverageCommand(),
                       TreeMinimumCommand(), TreeDiffCommand(), TreeCompareCommand(),
                       TreeImportCommand(), TreeExportCommand(), TreeVerifyCommand(),
                       TreeRecoverCommand()}};
}

}  // namespace fieldcost::cli

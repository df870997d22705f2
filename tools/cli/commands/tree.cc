#include "tools/cli/commands.h"

namespace fieldcost::cli {

command::Command TreeCommand() {
  return {.name = "tree",
          .summary = "Call trees: look at them, add, compare, cut out times",
          .help = R"(Examples:
  fieldcost tree show a.fct --metric wall
  fieldcost tree diff old.fct new.fct)",
          .commands = {TreeShowCommand(), TreeAtCommand(), TreeAddCommand(), TreeAverageCommand(),
                       TreeMinimumCommand(), TreeDiffCommand(), TreeCompareCommand(),
                       TreeImportCommand(), TreeExportCommand(), TreeVerifyCommand(),
                       TreeRecoverCommand()}};
}

}  // namespace fieldcost::cli

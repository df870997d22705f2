#include "tools/cli/commands.h"

namespace fieldcost::cli {

std::vector<command::Command> ProbeViewCommands() {
  return {ProbeListCommand(),   ProbeShowCommand(), ProbeCompareCommand(), ProbeHistoryCommand(),
          ProbeExportCommand(), ProbeMarkCommand(), ProbePurgeCommand()};
}

}  // namespace fieldcost::cli

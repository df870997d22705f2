// `fieldcost probe`: the commands of probe points.
#include "tools/cli/cli_commands.h"

namespace fieldcost::cli {

command::Command ProbeCommand() {
  return {
      .name = "probe",
      .summary = "Probe points: where the time between named steps goes, run after run",
      .help = R"(Examples:
  fieldcost probe run --local --tag cold --runs 10 -- ./editor
  fieldcost probe list --label index_open
  fieldcost probe show last
  fieldcost probe compare tag:cold tag:warm --label index_open
  fieldcost probe compare build:1.2 build:1.3 --fail-above 10%
  fieldcost probe login https://probes.team.example && fieldcost probe on)",
      .commands = {ProbeRunCommand(), ProbeListCommand(), ProbeShowCommand(), ProbeCompareCommand(),
                   ProbeHistoryCommand(), ProbeExportCommand(), ProbeMarkCommand(),
                   ProbePurgeCommand(), ProbeStatusCommand(), ProbeLoginCommand(),
                   ProbeLogoutCommand(), ProbeOnCommand(), ProbeOffCommand(), ProbeFlushCommand()}};
}

}  // namespace fieldcost::cli

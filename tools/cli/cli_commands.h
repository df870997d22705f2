#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/command/command.h"
#include "tools/cli/terminal/output.h"

namespace fieldcost::cli {

// The commands. Each is defined in a file of commands/ with everything that belongs to it; the
// parent commands `agent`, `docs`, `idle`, `probe`, `report` and `tree` define or list their
// subcommands. A handler prints its output to stdout; Main() prints its error.
command::Command AgentCommand();
command::Command AgentEnrolCommand();
command::Command AgentExplainCommand();
command::Command AgentForgetCommand();
command::Command AgentJoinCommand();
command::Command AgentLeaveCommand();
command::Command AgentLogCommand();
command::Command AgentSessionCommand();
command::Command AgentViewCommand();
command::Command CheckCommand();
command::Command CompletionCommand();
command::Command DiffCommand();
command::Command DocsCommand();
command::Command DocsDoxygenCommand();
command::Command DocsRustdocCommand();
command::Command DocsSiteCommand();
command::Command HistCommand();
command::Command IdleCommand();
command::Command IdleDiffCommand();
command::Command IdleShowCommand();
command::Command ManCommand();
command::Command MeasureCommand();
command::Command MergeCommand();
command::Command ProbeCommand();
command::Command ProbeCompareCommand();
command::Command ProbeExportCommand();
command::Command ProbeFlushCommand();
command::Command ProbeHistoryCommand();
command::Command ProbeListCommand();
command::Command ProbeLoginCommand();
command::Command ProbeLogoutCommand();
command::Command ProbeMarkCommand();
command::Command ProbeOffCommand();
command::Command ProbeOnCommand();
command::Command ProbePurgeCommand();
command::Command ProbeRunCommand();
command::Command ProbeShowCommand();
command::Command ProbeStatusCommand();
command::Command ReportCommand();
command::Command RunCommand();
command::Command SearchCommand();
command::Command ShowCommand();
command::Command SpectrumCommand();
command::Command SyncCommand();
command::Command TopCommand();
command::Command TraceCommand();
command::Command TreeAddCommand();
command::Command TreeAtCommand();
command::Command TreeAverageCommand();
command::Command TreeCommand();
command::Command TreeCompareCommand();
command::Command TreeDiffCommand();
command::Command TreeExportCommand();
command::Command TreeImportCommand();
command::Command TreeMinimumCommand();
command::Command TreeRecoverCommand();
command::Command TreeShowCommand();
command::Command TreeVerifyCommand();

// The command `fieldcost` itself with all subcommands.
command::Command Program();

// Runs before every command: erases stacks that a killed recorder of probe points has left in
// shared memory, except before `probe flush`, which resolves them to names.
void EraseLeftStacks(const command::Command& next);

// Prints completion candidates for the shells' scripts. The last of `words` is incomplete.
Status PrintCompletion(const command::Command& program, const std::vector<std::string>& words);

// The whole program: parses, runs, reports errors. `arguments` exclude the program's name.
int Main(std::vector<std::string> arguments);

}  // namespace fieldcost::cli

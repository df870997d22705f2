#pragma once

#include "common/base/result.h"
#include "tools/cli/command_line.h"

namespace fieldcost::cli {

// What every command gets.
struct Output {
  bool json = false;
  bool csv = false;   // never beside json; only for commands that HasCsv()
  bool pager = true;  // allowed, see pager.h
  draw::Style style;
};

// One function a command: does it, prints the answer to stdout, returns the exit status. An error
// is printed by the caller.
Result<int> Run(const AgentModeCommand& command, const Output& output);
Result<int> Run(const AgentStatusCommand& command, const Output& output);
Result<int> Run(const AgentExplainCommand& command, const Output& output);
Result<int> Run(const AgentSessionCommand& command, const Output& output);
Result<int> Run(const AgentPreviewCommand& command, const Output& output);
Result<int> Run(const AgentLogCommand& command, const Output& output);
Result<int> Run(const AgentViewCommand& command, const Output& output);
Result<int> Run(const AgentForgetCommand& command, const Output& output);
Result<int> Run(const AgentEnrolCommand& command, const Output& output);
Result<int> Run(const RunCommand& command, const Output& output);
Result<int> Run(const SyncCommand& command, const Output& output);
Result<int> Run(const ShowCommand& command, const Output& output);
Result<int> Run(const HistCommand& command, const Output& output);
Result<int> Run(const SpectrumCommand& command, const Output& output);
Result<int> Run(const SearchCommand& command, const Output& output);
Result<int> Run(const TopCommand& command, const Output& output);
Result<int> Run(const CheckCommand& command, const Output& output);
Result<int> Run(const DiffCommand& command, const Output& output);
Result<int> Run(const ReportVendorCommand& command, const Output& output);
Result<int> Run(const DocsCardsCommand& command, const Output& output);
Result<int> Run(const DocsDoxygenCommand& command, const Output& output);
Result<int> Run(const ManCommand& command, const Output& output);
Result<int> Run(const CompletionCommand& command, const Output& output);
Result<int> Run(const CompleteCommand& command, const Output& output);

// The whole program: parse, run, report. `arguments` without the program's name.
int Main(std::vector<std::string> arguments);

}  // namespace fieldcost::cli

#include <signal.h>

#include "tools/cli/commands.h"
#include "tools/cli/json_output.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

int Report(const Error& error, bool json) {
  if (json) {
    // Still exactly one JSON value on stdout, so that a script need not look at two places.
    static_cast<void>(WriteStdout(ErrorJson(error)));
  } else {
    Remark(error.message);
  }
  return ExitStatus(error.code);
}

}  // namespace

int Main(std::vector<std::string> arguments) {
  auto parsed = ParseCommandLine(std::move(arguments));
  if (const auto* answer = std::get_if<Answer>(&parsed)) {
    if (!answer->errors.empty()) Remark(answer->errors);
    const Status written = WriteStdout(answer->output);
    return written ? answer->exit_status : Report(written.error(), false);
  }
  const CommandLine& line = std::get<CommandLine>(parsed);
  // A closed pipe or connection shall be an error of write(), not our end. A program that `run`
  // starts must not inherit that.
  if (!std::holds_alternative<RunCommand>(line.command)) ::signal(SIGPIPE, SIG_IGN);
  const Output output{line.json, line.csv, line.pager, StdoutStyle(line.color)};
  const Result<int> status =
      std::visit([&](const auto& command) { return Run(command, output); }, line.command);
  return status ? *status : Report(status.error(), line.json);
}

}  // namespace fieldcost::cli

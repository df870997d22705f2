#include "tools/cli/run/two_commands.h"

#include <signal.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <system_error>

#include "agent/reach/reach.h"
#include "common/base/child_process.h"
#include "common/base/text.h"
#include "tools/cli/terminal/helper_program.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {

std::size_t SideOf(std::uint64_t pair, std::size_t turn) {
  return (static_cast<std::size_t>(std::popcount(pair)) + turn) % 2;
}

Result<TwoCommands> SplitCommands(const std::vector<std::string>& words, std::string_view usage) {
  const auto mark = std::ranges::find(words, "--");
  TwoCommands commands = {
      {{{.name = "old", .words = {words.begin(), mark}}, {.name = "new", .words = {}}}}};
  if (mark != words.end()) commands.both[1].words.assign(mark + 1, words.end());
  for (const TwoCommands::Command& command : commands.both) {
    if (command.words.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "expected two programs: {} -- OLD ... -- NEW ...",
                  usage);
    }
    std::error_code error;
    if (!std::filesystem::exists(reach::FindProgram(command.words[0]), error)) {
      return Fail(ErrorCode::kNotFound, "cannot run {}: no such program",
                  EscapeControl(command.words[0]));
    }
  }
  return commands;
}

Result<TurnRunner> TurnRunner::Make(const command::Arguments& arguments) {
  const bool shows_output = arguments.Has("--show-output");
  FIELDCOST_ASSIGN(RunInput input,
                   RunInput::Open({.file = arguments.Text("--input"),
                                   .runs = 2 * *arguments.Number("--runs"),
                                   .terminal = shows_output ? RunInput::Terminal::kShared
                                                            : RunInput::Terminal::kEmpty}));
  if (!input.note().empty()) Remark(input.note());
  return TurnRunner(std::move(input), shows_output ? kOurs : kNowhere);
}

Status TurnRunner::Run(std::vector<std::string> recorder, const TwoCommands::Command& command,
                       std::uint64_t run) {
  recorder.insert(recorder.end(), command.words.begin(), command.words.end());
  FIELDCOST_ASSIGN(const int input, input_.Next());
  // A signal from the terminal is the recorder's, which ends with it.
  const IgnoreInterrupts guard;
  FIELDCOST_ASSIGN(
      const pid_t child,
      StartHelper({.arguments = std::move(recorder), .input = input, .output = output_}));
  const int status = WaitForHelper(child);
  if (status == 0) return {};
  if (status == kSignalled + SIGINT) return Fail(ErrorCode::kUnavailable, "interrupted");
  return Fail(ErrorCode::kUnavailable,
              "run {} of the {} program exited with status {}; failing programs are not compared",
              run + 1, command.name, status);
}

}  // namespace fieldcost::cli

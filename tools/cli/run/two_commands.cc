#include "tools/cli/run/two_commands.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <system_error>

#include "agent/reach/reach.h"
#include "common/base/text.h"
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

Result<RunInput> InputOfBoth(const command::Arguments& arguments) {
  const auto terminal =
      arguments.Has("--show-output") ? RunInput::Terminal::kShared : RunInput::Terminal::kEmpty;
  FIELDCOST_ASSIGN(RunInput input, RunInput::Open({.file = arguments.Text("--input"),
                                                   .runs = 2 * *arguments.Number("--runs"),
                                                   .terminal = terminal}));
  if (!input.note().empty()) Remark(input.note());
  return input;
}

}  // namespace fieldcost::cli

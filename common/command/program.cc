#include "common/command/program.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>
#include <variant>

#include "common/base/text.h"
#include "common/command/parse.h"

namespace fieldcost::command {
namespace {

void PrintError(const Command& program, std::string_view what) {
  fmt::print(stderr, "{}: {}\n", program.name, EscapeControl(what));
}

int Run(const Command& program, std::string_view version, std::vector<std::string> arguments) {
  const auto parsed = Parse(program, version, std::move(arguments));
  if (const auto* answer = std::get_if<Answer>(&parsed)) {
    fmt::print("{}", answer->output);
    if (!answer->errors.empty()) PrintError(program, answer->errors);
    return answer->exit_status;
  }
  const auto& call = std::get<Call>(parsed);
  const Result<int> status = call.command->handler(call.arguments);
  if (status) return *status;
  PrintError(program, status.error().message);
  return ExitStatus(status.error().code);
}

}  // namespace

int RunProgram(const Command& program, std::string_view version,
               std::vector<std::string> arguments) {
  const int status = Run(program, version, std::move(arguments));
  return std::fflush(stdout) == 0 ? status : ExitStatus(ErrorCode::kIo);
}

}  // namespace fieldcost::command

// fieldcost-probe-server: keeps and shows probe points. Knows nothing of the aggregator.
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "aggregator/probes/commands.h"
#include "common/base/text.h"
#include "common/command/parse.h"

namespace {

namespace command = fieldcost::command;

int Main(std::vector<std::string> arguments) {
  const command::Command program = fieldcost::probe_server::Program();
  const auto parsed = command::Parse(program, FIELDCOST_VERSION, std::move(arguments));
  if (const auto* answer = std::get_if<command::Answer>(&parsed)) {
    fmt::print("{}", answer->output);
    if (!answer->errors.empty()) {
      fmt::print(stderr, "{}: {}\n", program.name, fieldcost::EscapeControl(answer->errors));
    }
    return answer->exit_status;
  }
  const auto& call = std::get<command::Call>(parsed);
  const auto status = fieldcost::probe_server::Run(*call.command, call.arguments);
  if (status) return *status;
  fmt::print(stderr, "{}: {}\n", program.name, fieldcost::EscapeControl(status.error().message));
  return fieldcost::ExitStatus(status.error().code);
}

}  // namespace

int main(int argument_count, char** arguments) {
  const int status = Main(std::vector<std::string>(arguments + 1, arguments + argument_count));
  return std::fflush(nullptr) == 0 ? status : fieldcost::ExitStatus(fieldcost::ErrorCode::kIo);
}

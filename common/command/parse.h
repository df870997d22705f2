#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/command/arguments.h"
#include "common/command/command.h"

namespace fieldcost::command {

// A parsed call: command->handler(arguments).
struct Call {
  const Command* command = nullptr;  // belongs to the parsed program; has a handler
  Arguments arguments;
};

// A complete answer: help, version or a usage error.
struct Answer {
  int exit_status = 0;
  std::string output;  // for stdout
  std::string errors;  // for stderr: the error on one line; quotes the user's text unescaped
};

// `arguments` without the program's name. REQUIRES: `program` outlives the call's result. `version`
// is what --version prints.
std::variant<Call, Answer> Parse(const Command& program, std::string_view version,
                                 std::vector<std::string> arguments);

}  // namespace fieldcost::command

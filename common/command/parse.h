#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/command/arguments.h"
#include "common/command/command.h"

namespace fieldcost::command {

// What is to be done: command->handler(arguments).
struct Call {
  const Command* command = nullptr;  // of the program that was parsed for; it has a handler
  Arguments arguments;
};

// All there is to say already: help, version, or what is wrong.
struct Answer {
  int exit_status = 0;
  std::string output;  // for stdout
  std::string errors;  // for stderr: what is wrong in one line, with text of the user's as it came
};

// `arguments` without the program's name. REQUIRES: `program` outlives the call's result. `version`
// is what --version prints.
std::variant<Call, Answer> Parse(const Command& program, std::string_view version,
                                 std::vector<std::string> arguments);

}  // namespace fieldcost::command

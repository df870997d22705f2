#pragma once

#include <string>

#include "tools/cli/command_line.h"

namespace fieldcost::cli {

// The completion script of a shell. It knows no command and no option: it asks
// `fieldcost __complete` (complete.h), so it never lags behind the program.
std::string CompletionScript(Shell shell);

}  // namespace fieldcost::cli

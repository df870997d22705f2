#pragma once

#include <string>

namespace fieldcost::cli {

enum class Shell { kBash, kZsh, kFish };

// The completion script of a shell. It knows no command and no option: it asks
// `fieldcost __complete` (common/command/complete.h), so it never lags behind the program.
std::string CompletionScript(Shell shell);

}  // namespace fieldcost::cli

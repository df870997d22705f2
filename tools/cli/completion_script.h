#pragma once

#include <string>

namespace fieldcost::cli {

enum class Shell { kBash, kZsh, kFish };

// The completion script of a shell. It contains no command and no option: it runs
// `fieldcost __complete` (common/command/complete.h), so it is always up to date.
std::string CompletionScript(Shell shell);

}  // namespace fieldcost::cli

#pragma once

#include <string>

namespace fieldcost::cli {

enum class Shell { kBash, kZsh, kFish };

// The completion script of a shell. It contains no command or option names but runs `fieldcost
// __complete` (common/command/complete.h), so it never becomes outdated.
std::string CompletionScript(Shell shell);

}  // namespace fieldcost::cli

#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "tools/lsp/language.h"

namespace fieldcost::lsp {

// The call whose arguments contain an offset, as signature help needs it: the start of the called
// name's last component. nullopt if the offset is in no argument list, as in the body of a lambda
// expression. Parentheses that do not follow a name, brackets and braced initialisers are part of
// the arguments around them. Never fails; linear time.
std::optional<std::size_t> EnclosingCall(std::string_view untrusted_text, const Language& language,
                                         std::size_t offset);

}  // namespace fieldcost::lsp

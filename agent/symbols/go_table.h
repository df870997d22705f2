#pragma once

#include <libelf.h>

#include <optional>

#include "agent/symbols/go_functions.h"

namespace fieldcost::symbols {

// Finds the table of a Go program's functions in its file; nullopt if it has none that can be read.
// The file is untrusted; the result refers to the memory of `elf`.
std::optional<GoFunctions> FindGoFunctions(Elf* elf);

}  // namespace fieldcost::symbols

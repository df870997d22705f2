#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::cli {

// The arguments of `fieldcost run`, as the preload library wants them. Pure.

// kInvalidArgument unless `text` is a comma-separated list of globs "soname!symbol", both parts
// printable and not empty.
Status CheckPick(std::string_view text);

// Some of "time", "alloc", "io", "cycles" in any order, comma-separated; gives the canonical order.
// kInvalidArgument otherwise.
Result<std::string> NormalizeMetrics(std::string_view text);

// LD_PRELOAD with `library` in front of what is there already, and without other copies of it, such
// as that of a session.
std::string PreloadVariable(std::string_view library, std::string_view present);

}  // namespace fieldcost::cli

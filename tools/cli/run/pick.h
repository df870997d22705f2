#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::cli {

// Converts the arguments of `fieldcost run` to the preload library's form. Pure.

// Converts one name of a pick, as users write it, to globs "soname!symbol", comma-separated. Such a
// glob stays unchanged. A symbol, or a glob over symbols, applies to all libraries. A C++ name
// ("soname!a::B::f", or just "B::f": without arguments, and leading scopes may be omitted)
// matches every overload and template instance, const or not; "a::B::*", with all its scopes,
// matches every member. Names that merely begin with it do not match, but functions with an
// argument type inside such a scope do. kInvalidArgument for anything else, and for operators and
// std, which mangled names abbreviate (Itanium C++ ABI 5.1.5).
Result<std::string> PickGlobs(std::string_view untrusted_name);

// Converts a comma-separated list of such names. kInvalidArgument.
Result<std::string> ResolvePick(std::string_view untrusted_text);

// Checks a comma-separated list of "time", "alloc", "io" and "cycles"; returns it in canonical
// order. kInvalidArgument for any other word.
Result<std::string> NormalizeMetrics(std::string_view text);

}  // namespace fieldcost::cli

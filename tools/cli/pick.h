#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::cli {

// Converts the arguments of `fieldcost run` to the preload library's form. Pure.

// Returns the globs "soname!symbol", comma-separated, for one name of a pick as users write it.
// Such a glob stays unchanged. A symbol, or a glob over symbols, applies to all libraries. A C++
// name, "soname!a::B::f" or only "B::f", from any of its scopes on and without arguments, stands
// for every overload and every instance of a template, const or not; "a::B::*", with all its
// scopes, for every member. Names that merely begin so do not match; functions with an argument
// type inside such a scope do. kInvalidArgument for anything else, and for operators and std, which
// mangled names abbreviate (Itanium C++ ABI 5.1.5).
Result<std::string> PickGlobs(std::string_view untrusted_name);

// A comma-separated list of these, in the preload library's form. kInvalidArgument.
Result<std::string> ResolvePick(std::string_view untrusted_text);

// Any of "time", "alloc", "io", "cycles", comma-separated; returns them in canonical order.
// kInvalidArgument otherwise.
Result<std::string> NormalizeMetrics(std::string_view text);

}  // namespace fieldcost::cli

#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::cli {

// Converts the arguments of `fieldcost run` to the preload library's form. Pure.

// One of a pick: the globs "soname!symbol", comma-separated, for what a user calls functions. Such
// a glob is itself. A symbol, or a glob over symbols, is that of all libraries. A name of C++,
// "soname!a::B::f" or only "B::f", from any of its scopes on and without arguments, is every
// overload and every instance of a template, const or not; "a::B::*", with all its scopes, is every
// member. Other names that begin so are none of them, but those of functions whose arguments' types
// hold such a name as a scope would be. kInvalidArgument for anything else, and for operators and
// std, which mangled names do not spell (Itanium C++ ABI 5.1.5).
Result<std::string> PickGlobs(std::string_view untrusted_name);

// A comma-separated list of these, in the preload library's form. kInvalidArgument.
Result<std::string> ResolvePick(std::string_view untrusted_text);

// Any of "time", "alloc", "io", "cycles", comma-separated; returns them in canonical order.
// kInvalidArgument otherwise.
Result<std::string> NormalizeMetrics(std::string_view text);

}  // namespace fieldcost::cli

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fieldcost::cli {

// Reads pages of functions that rustdoc has written (fn.NAME.html), and inserts cards into them.
// Developed with rustdoc 1.63 (Debian 12) and 1.95. Pure.

// The name of the C function that a page describes; nothing if the function is not declared
// `extern "..."`, because a function written in Rust may have the name of the C function it wraps.
std::optional<std::string> ExternalFunction(std::string_view file_name,
                                            std::string_view untrusted_html);

// The page without the cards of an earlier run, and with `cards` below the declaration. A second
// run produces the same bytes.
std::string WithCardsBelowDeclaration(std::string_view untrusted_html, std::string_view cards);

}  // namespace fieldcost::cli

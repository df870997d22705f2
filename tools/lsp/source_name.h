#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::lsp {

// The source-code name of a mangled C++ symbol.
struct CxxName {
  std::vector<std::string> scopes;  // "a", "b" of a::b::c; without template arguments
  std::string name;                 // "c"
  std::string text;                 // the full name with parameters and arguments, for display
};

// Parses a symbol of the Itanium C++ ABI with the compiler's own demangler. nullopt if it is not
// such a symbol, if it names something that has no name in source code (vtables, thunks, guard
// variables), or if it refers back to its own parts so often that its text could become enormous.
// Omits inline namespaces of the standard libraries (std::__cxx11, std::__1).
std::optional<CxxName> ParseCxxName(std::string_view untrusted_symbol);

// Splits "a::b::c" at "::"; omits empty parts.
std::vector<std::string> SplitScopes(std::string_view qualified);

}  // namespace fieldcost::lsp

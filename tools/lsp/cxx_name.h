#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::lsp {

// What a mangled C++ name is called in source code.
struct CxxName {
  std::vector<std::string> scopes;  // "a", "b" of a::b::c; without template arguments
  std::string name;                 // "c"
  std::string text;                 // all of it, with parameters and arguments: for people
};

// Reads a symbol of the Itanium C++ ABI with the compiler's own demangler. nullopt if it is no such
// symbol, or what it names cannot be called by a name (vtables, thunks, guard variables), or if it
// refers back to parts of itself so often that its text could become enormous. Inline namespaces of
// the standard libraries (std::__cxx11, std::__1) are left out.
std::optional<CxxName> ParseCxxName(std::string_view untrusted_symbol);

// "a::b::c" at its "::"; empty parts are left out.
std::vector<std::string> SplitScopes(std::string_view qualified);

}  // namespace fieldcost::lsp

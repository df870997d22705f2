#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::names {

// A demangled C++ name split into its parts. This is the only such parser: NameWithoutArguments(),
// ShortName() and other folders build on it.
struct CxxNameParts {
  // "a", "B" for "int a::B<char>::f<int>(char) const": without template arguments and ABI tags. An
  // anonymous namespace is kAnonymousNamespace; other unnamed scopes are in braces
  // ("{lambda(int)#1}").
  std::vector<std::string> scopes;
  // "f". Operators are complete except for their arguments ("operator< <int>", "operator
  // std::vector<int>"). Empty if the text has no simple name, as in "void (*f(int))(char)".
  std::string name;
  std::size_t arguments = 0;  // offset at which they begin, after the name; or the text's size
  bool is_operator = false;
  bool is_local = false;  // local to a function, which is one of the scopes: "f(int)::local"
};

inline constexpr std::string_view kAnonymousNamespace = "(anonymous namespace)";
// Inline namespaces in which standard libraries define their names, and which programs omit:
// std::__cxx11, std::__1.
inline constexpr std::array<std::string_view, 2> kInlineNamespaces = {"__cxx11", "__1"};

// Accepts any text. Takes linear time. Thread-safe.
CxxNameParts SplitCxxName(std::string_view untrusted_demangled);

}  // namespace fieldcost::names

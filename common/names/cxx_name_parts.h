#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fieldcost::names {

// The one cut of a demangled C++ name; NameWithoutArguments(), ShortName() and the readers of other
// folders are views of it.
struct CxxNameParts {
  // "a", "B" of "int a::B<char>::f<int>(char) const": without template arguments and ABI tags. An
  // anonymous namespace is kAnonymousNamespace, what has no name ("{lambda(int)#1}") in braces.
  std::vector<std::string> scopes;
  // "f"; an operator in full ("operator< <int>", "operator std::vector<int>"), but for its
  // arguments. Empty if the text names nothing by a name of its own, as "void (*f(int))(char)".
  std::string name;
  std::size_t arguments = 0;  // where in the text they begin, behind the name; or its end
  bool is_operator = false;
  bool is_local = false;  // in a function, which is among the scopes: "f(int)::local"
};

inline constexpr std::string_view kAnonymousNamespace = "(anonymous namespace)";
// Those that standard libraries put their names in, and nobody writes: std::__cxx11, std::__1.
inline constexpr std::array<std::string_view, 2> kInlineNamespaces = {"__cxx11", "__1"};

// Takes any text, in linear time. Thread-safe.
CxxNameParts SplitCxxName(std::string_view untrusted_demangled);

}  // namespace fieldcost::names

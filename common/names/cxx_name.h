#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/stats/api_key.h"

namespace fieldcost::names {

// Converts linker symbols (Itanium C++ ABI) to names as C++ programmers know them. Any bytes are
// accepted; time and memory are bounded by these limits. Nothing is escaped. Thread-safe.

// Mangled names with more references to their own parts than this are left unchanged, since each
// can double the length of the demangled name. Compilers seldom produce more.
inline constexpr std::size_t kMostReferences = 24;
inline constexpr std::size_t kMostMangledBytes = 512;
inline constexpr std::size_t kMostDemangledBytes = 16 * 1024;
inline constexpr std::size_t kMostRustBytes = 16 * 1024;  // mangled; demangling takes linear time

inline bool IsCxxSymbol(std::string_view symbol) { return symbol.starts_with("_Z"); }
// Whether it is a vtable, typeinfo, thunk, guard variable or the like, which no code calls by name.
inline bool IsSpecialSymbol(std::string_view symbol) {
  return symbol.starts_with("_ZT") || symbol.starts_with("_ZG");
}

// "a::B::f(int)", by the compiler's own demangler. The symbol itself if it is not a C++ symbol or
// exceeds a limit above.
std::string DemangledName(std::string_view untrusted_symbol);

// The part of a demangled name that Doxygen and profilers show: "Json::Value::isMember" for
// "Json::Value::isMember(char const*) const", without ABI tags.
std::string NameWithoutArguments(std::string_view demangled);

// The name that people type and tables show: "a::B::f" for "int a::B<char>::f<int>(char) const",
// without result type, arguments, template arguments, and inline namespaces of the standard
// libraries. Overloads share it. For C++ symbols without a function name of their own (vtables,
// thunks, local entities of functions), the whole demangled name; for other symbols, the symbol.
std::string ShortName(std::string_view untrusted_symbol);

// "libjsoncpp.so.25!Json::Reader::parse": DisplayName() with a readable symbol.
std::string ShownName(const stats::ApiKey& key);

// Finds the symbols that a user has typed: by their whole demangled name, or by their ShortName(),
// with or without leading scopes ("Reader::parse" matches "Json::Reader::parse").
class CxxNameQuery {
 public:
  explicit CxxNameQuery(std::string_view untrusted_typed);
  // False for symbols that are not C++. Most mismatches are detected by a plain text search in the
  // mangled name, without demangling.
  bool Matches(std::string_view untrusted_symbol) const;
  // Texts that every matching symbol contains, possibly none.
  const std::vector<std::string>& identifiers() const { return identifiers_; }

 private:
  std::string typed_;
  std::vector<std::string> identifiers_;
};

// Given a part of a name, in lower case, returns the identifiers in it that every mangled form of
// such a name contains literally. Leaves out those that mangling abbreviates or demangling adds.
std::vector<std::string> SpelledIdentifiers(std::string_view lower_case_text);

}  // namespace fieldcost::names

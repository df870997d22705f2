#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/stats/api_key.h"

namespace fieldcost::names {

// Names as C++ programmers know them, of symbols as linkers do (Itanium C++ ABI). Any bytes may
// come in; all is bounded in time and memory by these limits. Nothing is escaped. Thread-safe.

// Mangled names with more references to their own parts than this are left as they are: each can
// double what is printed. Names from compilers seldom have more.
inline constexpr std::size_t kMostReferences = 24;
inline constexpr std::size_t kMostMangledBytes = 512;
inline constexpr std::size_t kMostDemangledBytes = 16 * 1024;
inline constexpr std::size_t kMostRustBytes = 16 * 1024;  // mangled; their time is linear

inline bool IsCxxSymbol(std::string_view symbol) { return symbol.starts_with("_Z"); }
// Whether it is a vtable, typeinfo, thunk, guard variable or the like, which nobody calls by name.
inline bool IsSpecialSymbol(std::string_view symbol) {
  return symbol.starts_with("_ZT") || symbol.starts_with("_ZG");
}

// "a::B::f(int)", by the compiler's own demangler; the symbol itself if it is none of C++, or past
// a limit above.
std::string DemangledName(std::string_view untrusted_symbol);

// What Doxygen and profilers write of a demangled name: "Json::Value::isMember" of
// "Json::Value::isMember(char const*) const", without ABI tags.
std::string NameWithoutArguments(std::string_view demangled);

// What a person types and tables show: "a::B::f" of "int a::B<char>::f<int>(char) const", that is,
// without result, arguments, template arguments, and inline namespaces of the standard libraries.
// Overloads share it. Of what is no function with a name of its own (a vtable, a thunk, what is
// local to a function) everything; of other symbols the symbol.
std::string ShortName(std::string_view untrusted_symbol);

// "libjsoncpp.so.25!Json::Reader::parse": as DisplayName(), for people.
std::string ShownName(const stats::ApiKey& key);

// Whether symbols are meant by what was typed: a whole demangled name, or the ShortName() from any
// of its scopes on ("Reader::parse" of "Json::Reader::parse").
class CxxNameQuery {
 public:
  explicit CxxNameQuery(std::string_view untrusted_typed);
  // False for symbols that are not of C++. Most others are told by their letters alone, at the cost
  // of a search.
  bool Matches(std::string_view untrusted_symbol) const;

 private:
  std::string typed_;
  std::vector<std::string> identifiers_;  // that a mangled name spells out
};

// For a part of a name, in lower case: the identifiers in it that stand as they are in a mangled
// name of which the text is a part. Not those that mangling abbreviates or makes up.
std::vector<std::string> SpelledIdentifiers(std::string_view lower_case_text);

}  // namespace fieldcost::names

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fieldcost::analysis {

// Mangled names with more references to their own parts than this are left as they are: each can
// double what is printed. Names from compilers seldom have more.
inline constexpr std::size_t kMostReferences = 20;
inline constexpr std::size_t kMostMangledBytes = 512;
inline constexpr std::size_t kMostDemangledBytes = 16 * 1024;

// The name that a C++ programmer knows ("a::B::f(int)"), by the compiler's own demangler; the
// symbol itself if it is none of C++, or past a limit above. Any bytes may come in; bounded in time
// and memory by the limits. Not escaped. Thread-safe.
std::string DemangledName(std::string_view untrusted_symbol);

// The group that an API belongs to by its name:
//   C++: the scopes around it, namespaces and classes alike (names do not tell which), without
//   template arguments: "rocksdb::DB" of rocksdb::DB::Get(...); "(global)" without any; "(C++)" of
//   names that are not read for their limits. Else the prefix up to the first underscore behind a
//   letter or digit: "sqlite3_" of sqlite3_step,
//   "__memcpy_" of __memcpy_chk; "(no prefix)" if nothing follows it or there is none.
// Not escaped; never empty. Thread-safe.
std::string NamespaceOf(std::string_view untrusted_symbol);

// What Doxygen and profilers write of a demangled name: "Json::Value::isMember" of
// "Json::Value::isMember(char const*) const", without ABI tags.
std::string NameWithoutArguments(std::string_view demangled);

}  // namespace fieldcost::analysis

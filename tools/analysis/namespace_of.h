#pragma once

#include <string>
#include <string_view>

namespace fieldcost::analysis {

// The group that an API belongs to by its name:
//   C++: the enclosing scopes, both namespaces and classes (names do not distinguish them), without
//   template arguments: "rocksdb::DB" for rocksdb::DB::Get(...); "(global)" without scopes; "(C++)"
//   for names that exceed the limits for parsing. Otherwise, the prefix up to the first underscore
//   after a letter or digit: "sqlite3_" for sqlite3_step, "__memcpy_" for __memcpy_chk;
//   "(no prefix)" without a prefix, or if nothing follows it.
// Not escaped; never empty. Thread-safe.
std::string NamespaceOf(std::string_view untrusted_symbol);

}  // namespace fieldcost::analysis

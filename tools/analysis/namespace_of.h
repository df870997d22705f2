#pragma once

#include <string>
#include <string_view>

namespace fieldcost::analysis {

// The group that an API belongs to by its name:
//   C++: the scopes around it, namespaces and classes alike (names do not tell which), without
//   template arguments: "rocksdb::DB" of rocksdb::DB::Get(...); "(global)" without any; "(C++)" of
//   names that are not read for their limits. Else the prefix up to the first underscore behind a
//   letter or digit: "sqlite3_" of sqlite3_step,
//   "__memcpy_" of __memcpy_chk; "(no prefix)" if nothing follows it or there is none.
// Not escaped; never empty. Thread-safe.
std::string NamespaceOf(std::string_view untrusted_symbol);

}  // namespace fieldcost::analysis

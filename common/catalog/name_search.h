#pragma once

#include <string>

#include "common/base/result.h"
#include "common/catalog/name_pattern.h"
#include "common/sqlite/sqlite.h"

namespace fieldcost::catalog {

// Returns the full-text query that finds every name with these parts, among others, in the table
// name_grams (README.md, "Search"). Any bytes are accepted. Empty if no part has three consecutive
// characters; every name is then a candidate. Pure.
std::string GramQuery(const NameParts& untrusted_parts);

// Fills the tables ranking, libraries and name_grams from apis. Takes about 5 s for a million APIs.
// REQUIRES: inside a Transaction.
Status RebuildNameSearch(sqlite::Database& database);

}  // namespace fieldcost::catalog

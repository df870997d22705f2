#pragma once

#include <cstdint>
#include <string_view>

#include "aggregator/store/database.h"
#include "common/base/result.h"

namespace fieldcost::store {

// The version of the format of a store's sums: a u64 at "format" in Table::kMeta, written when the
// store is created.
inline constexpr std::uint64_t kStoreFormat = 1;
inline constexpr char kFormatKey[] = "format";

// Checks that the store has this program's format, or no entries. Messages begin with `attempt`,
// such as "open the store in DIR". kUnsupported: it has another format; kCorrupt: the mark is
// malformed, or missing although the store has entries; kIo.
Status CheckFormat(const Database& database, std::string_view attempt);

// As CheckFormat(), for a store about to be opened for writing, which creates missing tables. Reads
// the mark only if a table is missing, so that a refused store gains none.
Status CheckFormatBeforeTablesAreMade(DatabaseOptions options, std::string_view attempt);

// As CheckFormat(); marks a store without any entry.
Status CheckOrMarkFormat(Database& database, std::string_view attempt);

}  // namespace fieldcost::store

#pragma once

#include <cstdint>
#include <string_view>

#include "aggregator/store/database.h"
#include "common/base/result.h"

namespace fieldcost::store {

// The version of the programs that wrote a store's sums: a u64 at "format" in Table::kMeta, written
// when the store is created. Programs before version 2 accepted batches of version 1, whose bytes
// were counted too low, and wrote no mark.
inline constexpr std::uint64_t kStoreFormat = 2;
inline constexpr char kFormatKey[] = "format";

// Checks that this program's version wrote the store's sums, or that the store has no entries.
// Messages begin with `attempt`, such as "open the store in DIR". kUnsupported: an older or a newer
// program wrote it; kCorrupt: the mark is malformed; kIo.
Status CheckFormat(const Database& database, std::string_view attempt);

// As CheckFormat(), for a store about to be opened for writing, which creates missing tables. Reads
// the mark only if a table is missing, so that a refused store gains none.
Status CheckFormatBeforeTablesAreMade(DatabaseOptions options, std::string_view attempt);

// As CheckFormat(); marks a store without any entry.
Status CheckOrMarkFormat(Database& database, std::string_view attempt);

}  // namespace fieldcost::store

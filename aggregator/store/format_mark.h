#pragma once

#include <cstdint>
#include <string_view>

#include "aggregator/store/database.h"
#include "common/base/result.h"

namespace fieldcost::store {

// Which programs a store's sums are of: u64 at "format" in Table::kMeta, written when the store is
// made. Programs before number 2 took in batches of version 1, whose bytes were counted too low,
// and left no mark.
inline constexpr std::uint64_t kStoreFormat = 2;
inline constexpr char kFormatKey[] = "format";

// Checks that the store's sums are of this format; one without any entry is, too. Messages begin
// with `attempt`, as "open the store in DIR". kUnsupported: an older or a newer program wrote it;
// kCorrupt: the mark is malformed; kIo.
Status CheckFormat(const Database& database, std::string_view attempt);

// As CheckFormat(); marks a store without any entry.
Status CheckOrMarkFormat(Database& database, std::string_view attempt);

}  // namespace fieldcost::store

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/stats/stat_row.h"
#include "common/wire/row_table.h"

namespace fieldcost::wire {

namespace proto {
class Fragment;
}  // namespace proto

// The rows of a Fragment, also used by lab tables. For this folder's codecs only. Pure.

// kCorrupt, with the row's number, unless every row is valid and they strictly ascend by key.
Status CheckFragmentRows(std::span<const stats::StatRow> rows);

// Appends rows that CheckFragmentRows() accepts to an empty message; `table` belongs to it and may
// already contain APIs.
void WriteFragmentRows(std::span<const stats::StatRow> sorted_rows, RowTableWriter& table,
                       proto::Fragment& fragment);

// kTooLarge if `max_rows` or the limits of strings are exceeded; kCorrupt unless
// CheckFragmentRows() accepts the rows.
Result<std::vector<stats::StatRow>> ReadFragmentRows(const proto::Fragment& untrusted_fragment,
                                                     std::size_t max_rows);

}  // namespace fieldcost::wire

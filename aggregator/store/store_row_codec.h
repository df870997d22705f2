#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "aggregator/store/accepted_rows.h"
#include "aggregator/store/compact_row.h"
#include "aggregator/store/store_limits.h"
#include "common/base/result.h"
#include "common/stats/api_key.h"
#include "common/stats/varint.h"

namespace fieldcost::store {

// The store's byte formats; LAYOUT.md has grammar and a worked example. All functions are
// pure. Decoders are total: anything malformed is kCorrupt.

// Appends the key of a row. The byte order of keys equals operator<=> of stats::RowKey, so that all
// rows of an API, and within it of a metric, are adjacent. REQUIRES: no text of the key contains a
// zero byte.
void AppendRowKey(const stats::RowKey& key, std::string& bytes);
// As AppendRowKey(), without the hardware class and the week: an agent contributes once to such a
// key, regardless of the class and week that it claims.
void AppendContributionKey(const stats::RowKey& key, std::string& bytes);
Status DecodeRowKey(std::string_view untrusted_bytes, stats::RowKey& key);

void AppendRowValue(const RowSums& row, std::string& bytes);
inline void AppendRowValue(const CompactRow& row, std::string& bytes) {
  AppendRowValue(row.view(), bytes);
}
Status DecodeRowValue(std::string_view untrusted_bytes, CompactRow& row);

// The effect of a record of the log on its rows. The numbers are the records' format versions.
enum class RecordKind : char {
  kAdded = 1,
  kWithdrawn = 2,
  kBatch = 3,  // adds the rows of a batch, stored as received, for BatchRecordReader
};

// The record that subtracts the rows of AcceptedRows::bytes().
std::string WithdrawnRecord(std::string_view accepted_rows);

// kUnsupported if a newer program may have written the record; kCorrupt if none can have.
Result<RecordKind> RecordKindOf(std::string_view untrusted_record);

// Calls `visit` for every row of a record that holds rows, not a whole batch: AcceptedRows::bytes()
// or WithdrawnRecord().
Status ForEachAcceptedRow(
    std::string_view untrusted_bytes,
    const std::function<void(std::string_view key, const CompactRow& row)>& visit);

using stats::AppendVarint;
using stats::TakeVarint;

}  // namespace fieldcost::store

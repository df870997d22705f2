#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "aggregator/store/compact_row.h"
#include "aggregator/store/limits.h"
#include "common/base/result.h"
#include "common/stats/api_key.h"

namespace fieldcost::store {

// The store's byte formats; grammar and a worked example stand in README.md. All functions are
// pure. Decoders are total: anything malformed is kCorrupt.

// Appends the key of a row. Byte order of keys == operator<=> of stats::RowKey, so that all rows of
// an API, and within it of a metric, stand together.
// REQUIRES: no text of the key contains a zero byte.
void AppendRowKey(const stats::RowKey& key, std::string& bytes);
Status DecodeRowKey(std::string_view untrusted_bytes, stats::RowKey& key);

void AppendRowValue(const CompactRow& row, std::string& bytes);
// Values of version 1 have no weights.
Status DecodeRowValue(std::string_view untrusted_bytes, CompactRow& row);

// What a row of a batch is beside its sums.
enum class Contribution : std::uint8_t {
  kNone,  // its agent had sent this row key before
  kFirst,
  kFirstUnweighted,  // a first one, accepted before the store kept weights: it has none
};

// The accepted rows of one batch, encoded as the store logs them. Reused between batches.
class AcceptedRows {
 public:
  AcceptedRows() { Clear(); }
  void Clear();
  // A first contribution has scalars, and weights, beside its histogram.
  // REQUIRES: `histogram` is valid and not empty.
  // `key_bytes` is a key as AppendRowKey() makes it.
  void Add(std::string_view key_bytes, const stats::CostHistogram& histogram,
           Contribution contribution);
  void Add(const stats::RowKey& key, const stats::CostHistogram& histogram,
           Contribution contribution);
  std::uint32_t row_count() const { return row_count_; }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::string previous_key_;
  std::string key_;
  std::string value_;
  CompactRow row_;
  std::uint32_t row_count_ = 0;
};

// What an inbox record does with its rows. The numbers are the records' format versions.
enum class InboxKind : char { kAdded = 1, kWithdrawn = 2 };

// The record that takes the rows of AcceptedRows::bytes() away again.
std::string WithdrawnRecord(std::string_view accepted_rows);

// kCorrupt if it is neither.
Result<InboxKind> InboxKindOf(std::string_view untrusted_record);

// Calls `visit` for every row of an inbox record: AcceptedRows::bytes() or WithdrawnRecord().
Status ForEachAcceptedRow(
    std::string_view untrusted_bytes,
    const std::function<void(std::string_view key, const CompactRow& row)>& visit);

// Fixed-width integers whose byte order is their order, for keys.
void AppendBigEndian64(std::uint64_t value, std::string& bytes);
std::uint64_t ReadBigEndian64(std::string_view bytes);  // REQUIRES: bytes.size() == 8

// Numbers in values: LEB128 of up to 128 bits.
void AppendVarint(stats::Uint128 value, std::string& bytes);
// Takes a number off the front; false if there is none or it passes 128 bits.
bool TakeVarint(std::string_view& untrusted_bytes, stats::Uint128& value);

}  // namespace fieldcost::store

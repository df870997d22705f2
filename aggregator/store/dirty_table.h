#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "aggregator/store/compact_row.h"
#include "common/base/result.h"

namespace fieldcost::store {

// Sums over everything that was ever accepted, kept apart from the rows: re-adding all rows must
// give the same numbers (Store::Verify). 128-bit sums are modulo 2^128.
struct Totals {
  std::uint64_t batches = 0;
  std::uint64_t contributions = 0;
  stats::Uint128 calls = 0;
  stats::Uint128 sum = 0;
  stats::Uint128 sum_of_squares = 0;
  bool operator==(const Totals&) const = default;

  void AddRow(const CompactRow& row);
  void Add(const Totals& other);
  std::string Encode() const;
  static Result<Totals> Decode(std::string_view untrusted_bytes);
};

// What was accepted since the last checkpoint, summed by row key. Not thread-safe.
class DirtyTable {
 public:
  // Adds the rows of one accepted batch (AcceptedRows::bytes()).
  Status AddBatch(std::string_view accepted_rows);

  const CompactRow* Find(std::string_view key) const;
  const std::unordered_map<std::string, CompactRow>& rows() const { return rows_; }
  const Totals& totals() const { return totals_; }
  bool empty() const { return totals_.batches == 0; }
  std::size_t memory_bytes() const { return memory_bytes_; }

 private:
  std::unordered_map<std::string, CompactRow> rows_;
  std::string key_;  // look-up buffer
  Totals totals_;
  std::size_t memory_bytes_ = 0;
};

}  // namespace fieldcost::store

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "aggregator/store/accepted_rows.h"
#include "aggregator/store/compact_row.h"
#include "aggregator/store/row_index.h"
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

  void AddRow(const RowSums& row);
  void AddRow(const CompactRow& row) { AddRow(row.view()); }
  void Add(const Totals& other);
  // All numbers are modulo their type's size, so a difference of parts may be added to the whole.
  void Subtract(const Totals& other);
  std::string Encode() const;
  static Result<Totals> Decode(std::string_view untrusted_bytes);
};

// What was accepted and withdrawn since the last checkpoint, summed by row key. Additions and
// subtractions are kept apart, since a batch and its withdrawal need not be in one table. Not
// thread-safe.
class DirtyTable {
 public:
  // Takes in the rows of one batch.
  void Add(const AcceptedRows& rows);
  // Takes in one inbox record that holds rows. (BatchRecordReader makes rows of those that hold a
  // whole batch.)
  Status AddRecord(std::string_view record);

  // Brings `sums`, the row's value before this table, up to date: adds, then subtracts. kCorrupt if
  // more is withdrawn than there was. `found` is set if the table has anything of the row.
  Status Apply(std::string_view key, CompactRow& sums, bool& found) const;

  // Each row once, in ascending order of keys, with what is to be added and taken away; either may
  // be null.
  using Visitor = std::function<Status(const std::string& key, const CompactRow* added,
                                       const CompactRow* removed)>;
  Status ForEach(const Visitor& visit) const;

  // Sums to be added; differences are modulo the numbers' size.
  const Totals& totals() const { return totals_; }
  bool empty() const { return records_ == 0; }
  std::size_t row_count() const { return added_.size() + removed_.size(); }
  std::size_t memory_bytes() const { return memory_bytes_; }

 private:
  void Merge(RowIndex& rows, std::string_view key, std::uint32_t key_hash, const RowSums& sums);

  RowIndex added_;
  RowIndex removed_;
  Totals totals_;
  std::uint64_t records_ = 0;
  std::size_t memory_bytes_ = 0;
};

}  // namespace fieldcost::store

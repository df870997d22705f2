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

// Sums over everything ever accepted, stored separately from the rows, so that Store::Verify() can
// compare them with the sums of all rows. 128-bit sums are modulo 2^128.
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
  // Differences may be negative: all numbers are modulo 2^N of their type, so adding such a
  // difference to a total is correct.
  void Subtract(const Totals& other);
  std::string Encode() const;
  static Result<Totals> Decode(std::string_view untrusted_bytes);
};

// Everything accepted and withdrawn since the last checkpoint, summed by row key. Additions and
// subtractions are stored separately, since a batch and its withdrawal need not be in the same
// table. Not thread-safe.
class DirtyTable {
 public:
  // Adds the rows of one batch.
  void Add(const AcceptedRows& rows);
  // Adds or subtracts the rows of an inbox record. (For a record of a whole batch,
  // BatchRecordReader makes the rows.)
  Status AddRecord(std::string_view record);

  // Updates `sums`, the row's value before this table: adds, then subtracts. kCorrupt if more is
  // withdrawn than there was. `found` is set if the table has an entry for the row.
  Status Apply(std::string_view key, CompactRow& sums, bool& found) const;

  // Visits each row once, in ascending order of keys, with the sums to be added and to be
  // subtracted; either may be null.
  using Visitor = std::function<Status(const std::string& key, const CompactRow* added,
                                       const CompactRow* removed)>;
  Status ForEach(const Visitor& visit) const;

  // The sums to add to the stored totals, modulo 2^N of their types.
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

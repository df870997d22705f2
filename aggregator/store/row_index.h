#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/compact_row.h"

namespace fieldcost::store {

// Rows by key, to be looked up millions of times a second: a table of 8 bytes a row, half of them
// the hash, finds nearly always the right row at the first try, and only then memory is touched.
// Rows stay where they are. Not thread-safe.
class RowIndex {
 public:
  struct Row {
    std::string key;
    CompactRow sums;
  };

  // Null if there is none.
  Row* Find(std::string_view key);
  const Row* Find(std::string_view key) const;
  // REQUIRES: there is no such row.
  Row& Insert(std::string_view key);

  std::size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  // In ascending order of keys; valid until the next Insert().
  std::vector<const Row*> Sorted() const;

  // What one more row costs beside the bytes of its key and its buckets.
  static constexpr std::size_t kRowOverheadBytes = sizeof(Row) + 48;

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t row = 0;  // its number + 1; 0 = free
  };
  std::size_t SlotOf(std::string_view key, std::uint32_t hash) const;
  void Grow();

  std::vector<Slot> slots_;  // a power of two of them, at most half of them taken
  std::deque<Row> rows_;
};

}  // namespace fieldcost::store

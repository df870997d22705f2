#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/compact_row.h"

namespace fieldcost::store {

// Finds rows by key, millions of times per second. A table with slots of 8 bytes, half of each the
// hash, nearly always gives the right row at the first attempt; other memory is read only to
// confirm it. Rows do not move. Not thread-safe.
class RowIndex {
 public:
  struct Row {
    std::string key;
    CompactRow sums;
  };

  // Hashes with a per-process random seed, so that agents cannot construct keys that collide.
  static std::uint32_t HashOf(std::string_view key);

  // Null if there is no such row. REQUIRES, here and below: `hash` is HashOf(key).
  Row* Find(std::string_view key, std::uint32_t hash);
  const Row* Find(std::string_view key, std::uint32_t hash) const;
  Row* Find(std::string_view key) { return Find(key, HashOf(key)); }
  const Row* Find(std::string_view key) const { return Find(key, HashOf(key)); }
  // REQUIRES: there is no such row.
  Row& Insert(std::string_view key, std::uint32_t hash);
  Row& Insert(std::string_view key) { return Insert(key, HashOf(key)); }

  // Prefetches a row that will be looked up soon, in three steps; each reads what the previous one
  // has fetched.
  void FetchSlot(std::uint32_t hash) const;
  void FetchRow(std::uint32_t hash) const;
  void FetchSums(std::uint32_t hash) const;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // All rows in ascending order of keys; valid until the next Insert().
  std::vector<const Row*> Sorted() const;

  // The cost of one more row in addition to the bytes of its key and its buckets.
  static constexpr std::size_t kRowOverheadBytes = sizeof(Row) + 48;

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t row = 0;  // its number + 1; 0 = free
  };
  static constexpr std::size_t kChunkRows = 256;  // a power of two

  std::size_t SlotOf(std::string_view key, std::uint32_t hash) const;
  // The first row with that hash, nearly always the right one; null if there is none.
  const Row* LikelyRow(std::uint32_t hash) const;
  const Row& RowAt(std::size_t index) const {
    return chunks_[index / kChunkRows][index % kChunkRows];
  }
  void Grow();

  std::vector<Slot> slots_;               // a power of two in size, at most half taken
  std::vector<std::vector<Row>> chunks_;  // each has capacity for kChunkRows from the start
  std::size_t size_ = 0;
};

}  // namespace fieldcost::store

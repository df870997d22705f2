#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/compact_row.h"

namespace fieldcost::store {

// Rows by key, to be looked up millions of times a second: a table of 8 bytes a row, half of them
// the hash, nearly always finds the right row at the first try, and touches other memory only then.
// Rows stay where they are. Not thread-safe.
class RowIndex {
 public:
  struct Row {
    std::string key;
    CompactRow sums;
  };

  // Hashes under a secret of this process, so that nobody can make keys that collide.
  static std::uint32_t HashOf(std::string_view key);

  // Null if there is none. REQUIRES, here and below: `hash` is HashOf(key).
  Row* Find(std::string_view key, std::uint32_t hash);
  const Row* Find(std::string_view key, std::uint32_t hash) const;
  Row* Find(std::string_view key) { return Find(key, HashOf(key)); }
  const Row* Find(std::string_view key) const { return Find(key, HashOf(key)); }
  // REQUIRES: there is no such row.
  Row& Insert(std::string_view key, std::uint32_t hash);
  Row& Insert(std::string_view key) { return Insert(key, HashOf(key)); }

  // A row that will be looked up soon can be fetched from memory in advance, in three steps, each
  // of which reads what the one before has fetched.
  void FetchSlot(std::uint32_t hash) const;
  void FetchRow(std::uint32_t hash) const;
  void FetchSums(std::uint32_t hash) const;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // All rows in ascending order of keys; valid until the next Insert().
  std::vector<const Row*> Sorted() const;

  // What one more row costs beside the bytes of its key and its buckets.
  static constexpr std::size_t kRowOverheadBytes = sizeof(Row) + 48;

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t row = 0;  // its number + 1; 0 = free
  };
  static constexpr std::size_t kChunkRows = 256;  // a power of two

  std::size_t SlotOf(std::string_view key, std::uint32_t hash) const;
  // The first row of that hash, which is nearly always the right one; null if there is none.
  const Row* LikelyRow(std::uint32_t hash) const;
  const Row& RowAt(std::size_t index) const {
    return chunks_[index / kChunkRows][index % kChunkRows];
  }
  void Grow();

  std::vector<Slot> slots_;               // a power of two of them, at most half of them taken
  std::vector<std::vector<Row>> chunks_;  // each with room for kChunkRows from the start
  std::size_t size_ = 0;
};

}  // namespace fieldcost::store

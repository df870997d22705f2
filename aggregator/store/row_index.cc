#include "aggregator/store/row_index.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "common/base/check.h"

namespace fieldcost::store {
namespace {

constexpr std::size_t kFirstSlots = 1024;

std::uint32_t HashOf(std::string_view key) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>()(key));
}

}  // namespace

// The slot of the row, or the free one where it would be.
std::size_t RowIndex::SlotOf(std::string_view key, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.row == 0 || (slot.hash == hash && rows_[slot.row - 1].key == key)) return at;
  }
}

RowIndex::Row* RowIndex::Find(std::string_view key) {
  return const_cast<Row*>(static_cast<const RowIndex*>(this)->Find(key));
}

const RowIndex::Row* RowIndex::Find(std::string_view key) const {
  if (slots_.empty()) return nullptr;
  const Slot& slot = slots_[SlotOf(key, HashOf(key))];
  return slot.row == 0 ? nullptr : &rows_[slot.row - 1];
}

RowIndex::Row& RowIndex::Insert(std::string_view key) {
  if (2 * (rows_.size() + 1) > slots_.size()) Grow();
  const std::uint32_t hash = HashOf(key);
  Slot& slot = slots_[SlotOf(key, hash)];
  FIELDCOST_CHECK(slot.row == 0 && rows_.size() < std::numeric_limits<std::uint32_t>::max());
  rows_.push_back({.key = std::string(key), .sums = {}});
  slot = {.hash = hash, .row = static_cast<std::uint32_t>(rows_.size())};
  return rows_.back();
}

void RowIndex::Grow() {
  const std::vector<Slot> old = std::move(slots_);
  slots_.assign(std::max(kFirstSlots, 2 * old.size()), {});
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.row == 0) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].row != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

std::vector<const RowIndex::Row*> RowIndex::Sorted() const {
  std::vector<const Row*> sorted;
  sorted.reserve(rows_.size());
  for (const Row& row : rows_) sorted.push_back(&row);
  std::sort(sorted.begin(), sorted.end(),
            [](const Row* a, const Row* b) { return a->key < b->key; });
  return sorted;
}

}  // namespace fieldcost::store

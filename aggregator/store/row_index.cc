#include "aggregator/store/row_index.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "aggregator/store/limits.h"
#include "common/base/check.h"
#include "common/crypto/random.h"
#include "common/stats/uint128.h"

namespace fieldcost::store {
namespace {

constexpr std::size_t kFirstSlots = 1024;

std::uint64_t WordAt(const char* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Random numbers of this process, so that nobody can make keys that collide; of the library's hash,
// collisions can be written down. First NH of UMAC (RFC 4418) with words of 64 bits, then a
// polynomial over a prime field to bring its 128 bits down to 32.
class SecretHash {
 public:
  SecretHash() {
    for (std::uint64_t& word : words_) word = crypto::RandomUint64();
    point_ = crypto::RandomUint64() & kPrime;
  }

  std::uint32_t operator()(std::string_view key) const {
    stats::Uint128 sum = key.size();
    std::size_t at = 0;
    for (; key.size() >= kBlockBytes; key.remove_prefix(kBlockBytes), at += 2) {
      sum += Product(at, key.data());
    }
    char last[kBlockBytes] = {};
    std::memcpy(last, key.data(), key.size());
    sum += Product(at, last);
    std::uint64_t hash = 1;
    for (int piece = 0; piece < 3; ++piece, sum >>= kPieceBits) {
      const stats::Uint128 product =
          stats::Uint128{hash + (stats::Low64(sum) & kPieceMask)} * point_;
      hash = (stats::Low64(product) & kPrime) + stats::Low64(product >> kPrimeBits);
      if (hash >= kPrime) hash -= kPrime;
    }
    return static_cast<std::uint32_t>(hash);
  }

 private:
  static constexpr std::size_t kBlockBytes = 16;
  // Enough for the longest key that is accepted; longer ones use them again.
  static constexpr std::size_t kWords = 512;
  static_assert(8 * kWords >= kMaxRowKeyBytes + kBlockBytes);
  static constexpr unsigned kPrimeBits = 61;
  static constexpr std::uint64_t kPrime = (std::uint64_t{1} << kPrimeBits) - 1;
  static constexpr unsigned kPieceBits = 48;
  static constexpr std::uint64_t kPieceMask = (std::uint64_t{1} << kPieceBits) - 1;

  stats::Uint128 Product(std::size_t at, const char* block) const {
    return stats::Uint128{WordAt(block) + words_[at % kWords]} *
           (WordAt(block + 8) + words_[(at + 1) % kWords]);
  }

  std::array<std::uint64_t, kWords> words_;
  std::uint64_t point_;
};

std::uint32_t HashOf(std::string_view key) {
  static const SecretHash hash;
  return hash(key);
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

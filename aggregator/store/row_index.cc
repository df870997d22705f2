#include "aggregator/store/row_index.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "aggregator/store/store_limits.h"
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

// A hash with a per-process random seed, so that agents cannot construct keys that collide, as they
// can for the library's hash. First NH of UMAC (RFC 4418) with words of 64 bits, then a polynomial
// over a prime field to reduce its 128 bits to 32.
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
  // Enough for the longest accepted key; longer keys reuse the words.
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

constexpr std::size_t kLineBytes = 64;

// Maximum part of a row to prefetch: the processor itself prefetches the rest.
constexpr std::size_t kFetchedBytes = 8 * kLineBytes;

void Fetch(const void* begin, std::size_t size) {
  for (std::size_t at = 0; at < std::min(size, kFetchedBytes); at += kLineBytes) {
    __builtin_prefetch(static_cast<const char*>(begin) + at, 1);
  }
}

}  // namespace

std::uint32_t RowIndex::HashOf(std::string_view key) {
  static const SecretHash hash;
  return hash(key);
}

// Returns the slot of the row, or the free one where it would be inserted.
std::size_t RowIndex::SlotOf(std::string_view key, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.row == 0 || (slot.hash == hash && RowAt(slot.row - 1).key == key)) return at;
  }
}

RowIndex::Row* RowIndex::Find(std::string_view key, std::uint32_t hash) {
  return const_cast<Row*>(static_cast<const RowIndex*>(this)->Find(key, hash));
}

const RowIndex::Row* RowIndex::Find(std::string_view key, std::uint32_t hash) const {
  if (slots_.empty()) return nullptr;
  const Slot& slot = slots_[SlotOf(key, hash)];
  return slot.row == 0 ? nullptr : &RowAt(slot.row - 1);
}

RowIndex::Row& RowIndex::Insert(std::string_view key, std::uint32_t hash) {
  if (2 * (size_ + 1) > slots_.size()) Grow();
  Slot& slot = slots_[SlotOf(key, hash)];
  FIELDCOST_CHECK(slot.row == 0 && size_ < std::numeric_limits<std::uint32_t>::max());
  if (size_ % kChunkRows == 0) chunks_.emplace_back().reserve(kChunkRows);
  Row& row = chunks_.back().emplace_back(Row{.key = std::string(key), .sums = {}});
  slot = {.hash = hash, .row = static_cast<std::uint32_t>(++size_)};
  return row;
}

const RowIndex::Row* RowIndex::LikelyRow(std::uint32_t hash) const {
  if (slots_.empty()) return nullptr;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.row == 0) return nullptr;
    if (slot.hash == hash) return &RowAt(slot.row - 1);
  }
}

void RowIndex::FetchSlot(std::uint32_t hash) const {
  if (!slots_.empty()) Fetch(&slots_[hash & (slots_.size() - 1)], 1);
}

void RowIndex::FetchRow(std::uint32_t hash) const {
  if (const Row* row = LikelyRow(hash)) Fetch(row, sizeof *row);
}

void RowIndex::FetchSums(std::uint32_t hash) const {
  const Row* row = LikelyRow(hash);
  if (row == nullptr) return;
  Fetch(row->key.data(), row->key.size());
  Fetch(row->sums.buckets.data(), row->sums.buckets.size() * sizeof(CompactBucket));
  const std::vector<stats::SizeBucket>& sizes = row->sums.sizes.buckets;
  Fetch(sizes.data(), sizes.size() * sizeof(stats::SizeBucket));
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
  sorted.reserve(size_);
  for (const std::vector<Row>& chunk : chunks_) {
    for (const Row& row : chunk) sorted.push_back(&row);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const Row* a, const Row* b) { return a->key < b->key; });
  return sorted;
}

}  // namespace fieldcost::store

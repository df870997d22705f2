#include "aggregator/store/row_index.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <random>

namespace fieldcost::store {
namespace {

TEST(RowIndexTest, HoldsWhatAMapHoldsInTheSameOrder) {
  std::mt19937 random(1);
  std::map<std::string, std::uint64_t> expected;
  RowIndex index;
  EXPECT_EQ(index.Find("a"), nullptr);
  for (int i = 0; i < 20'000; ++i) {
    const std::string key = "key " + std::to_string(random() % 5'000);
    RowIndex::Row* row = index.Find(key);
    EXPECT_EQ(row == nullptr, !expected.contains(key)) << key;
    if (row == nullptr) row = &index.Insert(key);
    ++row->sums.scalars.contributions;
    ++expected[key];
  }
  EXPECT_EQ(index.size(), expected.size());
  const auto sorted = index.Sorted();
  ASSERT_EQ(sorted.size(), expected.size());
  auto next = expected.begin();
  for (const RowIndex::Row* row : sorted) {
    EXPECT_EQ(row->key, next->first);
    EXPECT_EQ(row->sums.scalars.contributions, next->second);
    ++next;
  }
}

// Generates strings of 16 bytes with the same std::hash: it mixes each of their two words
// reversibly, so the second can be chosen to cancel the first.
class StdHashCollisions {
 public:
  std::string Next() {
    const std::uint64_t first = ++last_;
    const std::uint64_t after_first = (kStart ^ Mixed(first)) * kFactor;
    const std::uint64_t second = Unmixed(after_first);
    std::string key(16, '\0');
    std::memcpy(key.data(), &first, 8);
    std::memcpy(key.data() + 8, &second, 8);
    return key;
  }

 private:
  static constexpr std::uint64_t kFactor = 0xc6a4a7935bd1e995;
  static constexpr std::uint64_t kStart = 0xc70f6907 ^ (16 * kFactor);
  static constexpr std::uint64_t Shifted(std::uint64_t word) { return word ^ (word >> 47); }
  static constexpr std::uint64_t Mixed(std::uint64_t word) {
    return Shifted(word * kFactor) * kFactor;
  }
  static constexpr std::uint64_t Unmixed(std::uint64_t word) {
    std::uint64_t inverse = 1;
    for (int i = 0; i < 6; ++i) inverse *= 2 - kFactor * inverse;  // Newton's method, modulo 2^64
    return Shifted(word * inverse) * inverse;
  }
  std::uint64_t last_ = 0;
};

// With a predictable hash, this takes time quadratic in the number of keys: minutes.
TEST(RowIndexTest, KeysThatWereMadeToCollideAreFoundAsFastAsOthers) {
  StdHashCollisions collisions;
  EXPECT_EQ(std::hash<std::string_view>()(collisions.Next()),
            std::hash<std::string_view>()(collisions.Next()))
      << "they do collide there";
  RowIndex index;
  for (int i = 0; i < 400'000; ++i) {
    const std::string key = collisions.Next();
    ASSERT_EQ(index.Find(key), nullptr);
    index.Insert(key);
  }
  EXPECT_EQ(index.size(), 400'000U);
}

TEST(RowIndexTest, KeysOfAllLengthsDiffer) {
  RowIndex index;
  for (std::size_t size = 0; size < 40; ++size) {
    for (std::size_t set = 0; set < size; ++set) {
      std::string key(size, '\0');
      key[set] = 'x';
      ASSERT_EQ(index.Find(key), nullptr);
      index.Insert(key);
      ASSERT_NE(index.Find(key), nullptr);
    }
  }
}

TEST(RowIndexTest, RowsStayWhereTheyAre) {
  RowIndex index;
  const RowIndex::Row* first = &index.Insert("first");
  for (int i = 0; i < 10'000; ++i) index.Insert(std::to_string(i));
  EXPECT_EQ(index.Find("first"), first);
}

}  // namespace
}  // namespace fieldcost::store

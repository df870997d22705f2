#include "aggregator/store/row_index.h"

#include <gtest/gtest.h>

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

TEST(RowIndexTest, RowsStayWhereTheyAre) {
  RowIndex index;
  const RowIndex::Row* first = &index.Insert("first");
  for (int i = 0; i < 10'000; ++i) index.Insert(std::to_string(i));
  EXPECT_EQ(index.Find("first"), first);
}

}  // namespace
}  // namespace fieldcost::store

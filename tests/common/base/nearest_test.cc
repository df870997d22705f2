#include "common/base/nearest.h"

#include <gtest/gtest.h>

namespace fieldcost {
namespace {

TEST(NearestNameTest, TakesTheFewestEdits) {
  const std::vector<std::string> keys = {"listen.address", "listen.port", "store.directory"};
  EXPECT_EQ(NearestName("listen.prot", keys), "listen.port");
  EXPECT_EQ(NearestName("listn.addres", keys), "listen.address");
  EXPECT_EQ(NearestName("store.dir", keys), "store.directory");
  EXPECT_EQ(NearestName("listen.port", keys), "listen.port");
}

TEST(NearestNameTest, FirstOfEqualsAndNothingOfNothing) {
  EXPECT_EQ(NearestName("x", {"a", "b"}), "a");
  EXPECT_EQ(NearestName("", {"ab", "c"}), "c");
  EXPECT_EQ(NearestName("x", {}), "");
}

TEST(EditDistanceTest, NeighboursExchangedAreOneEdit) {
  EXPECT_EQ(EditDistance("shwo", "show", 9), 1U);
  EXPECT_EQ(EditDistance("ab", "ba", 1), 1U);
  EXPECT_EQ(EditDistance("abcd", "badc", 9), 2U);
  EXPECT_EQ(EditDistance("kitten", "sitting", 9), 3U);
  EXPECT_EQ(EditDistance("", "abc", 9), 3U);
  for (const std::size_t limit : {0U, 1U, 2U}) {
    EXPECT_EQ(EditDistance("kitten", "sitting", limit), limit + 1) << limit;
  }
}

TEST(NearestNameTest, SuggestsNoDistantName) {
  EXPECT_EQ(MeantName("shwo", {"top", "show"}), "show");
  EXPECT_EQ(MeantName("--limt", {"--limit", "--local"}), "--limit");
  EXPECT_EQ(MeantName("xyz", {"top", "show"}), "");
}

}  // namespace
}  // namespace fieldcost

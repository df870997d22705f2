#include "common/stats/varint.h"

#include <gtest/gtest.h>

#include <random>

namespace fieldcost::stats {
namespace {

TEST(VarintTest, ReadsNumbersOfAnyWidthAndNothingAfterThem) {
  std::mt19937_64 random(3);
  for (unsigned bits = 0; bits <= 128; ++bits) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      Uint128 value = MakeUint128(random(), random());
      value = bits == 0 ? 0 : value >> (128 - bits);
      std::string bytes;
      AppendVarint(value, bytes);
      EXPECT_LE(bytes.size(), 1 + bits / 7);
      bytes += "rest";
      std::string_view rest = bytes;
      Uint128 again = 1;
      ASSERT_TRUE(TakeVarint(rest, again));
      EXPECT_TRUE(again == value);
      EXPECT_EQ(rest, "rest");
    }
  }
}

TEST(VarintTest, RefusesTruncatedVarintsAndThoseBeyond128Bits) {
  std::string bytes;
  AppendVarint(~Uint128{0}, bytes);
  ASSERT_EQ(bytes.size(), 19U);
  Uint128 value = 0;
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    std::string_view rest(bytes.data(), cut);
    EXPECT_FALSE(TakeVarint(rest, value)) << cut;
  }
  ++bytes.back();
  std::string_view rest = bytes;
  EXPECT_FALSE(TakeVarint(rest, value));
}

}  // namespace
}  // namespace fieldcost::stats

#include "agent/spool/spool_row_codec.h"

#include <gtest/gtest.h>

namespace fieldcost::spool {
namespace {

TEST(RowCodecTest, KeysComeBackWithEmptyFields) {
  for (const LocalKey& key :
       {LocalKey{.api = {"libz.so.1", "1:1.2.13", "abcd", "inflate", "ZLIB_1.2"},
       .metric = stats::Metric::kAllocSize,
       .week = 2916},
        LocalKey{.api = {"libx.so", "", "", "f", ""}, .metric = stats::Metric::kWallTime}}) {
    const auto back = DecodeKey(EncodeKey(key));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, key);
  }
  for (const char* text :
       {"", "a b c", "a b c d e 0 1", "a b c d e 99 1", "a b c d e 1 x", "a b c d e 1 1 1"}) {
    EXPECT_FALSE(DecodeKey(text)) << text;
  }
}

TEST(RowCodecTest, HistogramsComeBackBitForBit) {
  stats::CostHistogram histogram;
  EXPECT_EQ(*DecodeHistogram(EncodeHistogram(histogram)), histogram);
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0},
                                    std::uint64_t{1}, std::uint64_t{4096}}) {
    histogram.Add(value);
  }
  const std::string bytes = EncodeHistogram(histogram);
  EXPECT_EQ(bytes.size(), 4U * 41);
  EXPECT_EQ(*DecodeHistogram(bytes), histogram);
}

TEST(RowCodecTest, StoresTheNumberOfUntimedCallsAfterTheBuckets) {
  stats::CostHistogram histogram;
  histogram.Add(5);
  histogram.Add(9, 258);
  std::string bytes = EncodeHistogram(histogram);
  EXPECT_EQ(bytes.substr(2 * 41), std::string("\1\1\0\0\0\0\0\0", 8));
  EXPECT_EQ(*DecodeHistogram(bytes), histogram);
  bytes[2 * 41 + 1] = 2;  // more than the number of calls
  EXPECT_FALSE(DecodeHistogram(bytes));
}

TEST(RowCodecTest, DamagedHistogramsAreRefused) {
  stats::CostHistogram histogram;
  histogram.Add(5);
  histogram.Add(100);
  const std::string bytes = EncodeHistogram(histogram);
  EXPECT_FALSE(DecodeHistogram(bytes.substr(1)));
  std::string swapped = bytes.substr(41) + bytes.substr(0, 41);
  EXPECT_FALSE(DecodeHistogram(swapped));
  std::string twice = bytes + bytes;
  EXPECT_FALSE(DecodeHistogram(twice));
  for (const std::size_t at : {0U, 1U, 9U, 17U, 25U, 33U}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    EXPECT_FALSE(DecodeHistogram(damaged)) << at;
  }
}

}  // namespace
}  // namespace fieldcost::spool

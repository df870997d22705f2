#include "common/base/byte_order.h"

#include <gtest/gtest.h>

namespace fieldcost {
namespace {

using namespace std::string_view_literals;

TEST(ByteOrderTest, BigEndianBytesSortAsNumbers) {
  std::string bytes;
  AppendBigEndian32(0x01020304, bytes);
  AppendBigEndian64(0xfffefdfcfbfaf9f8, bytes);
  EXPECT_EQ(bytes, "\x01\x02\x03\x04\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8");
  EXPECT_EQ(ReadBigEndian("\x01\x02\x03\x04"), 0x01020304U);
  EXPECT_EQ(ReadBigEndian("\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8"), 0xfffefdfcfbfaf9f8U);
  EXPECT_EQ(ReadBigEndian("\x80\x00"sv), 0x8000U);
}

TEST(ByteOrderTest, LittleEndianBytesBeginWithTheLowest) {
  std::string bytes;
  AppendLittleEndian64(0xfffefdfc00000102, bytes);
  EXPECT_EQ(bytes, "\x02\x01\x00\x00\xfc\xfd\xfe\xff"sv);
  EXPECT_EQ(ReadLittleEndian(bytes), 0xfffefdfc00000102U);
  EXPECT_EQ(ReadLittleEndian("\x00\x80"sv), 0x8000U);
}

TEST(ByteOrderTest, NoBytesAreZero) {
  EXPECT_EQ(ReadBigEndian(""), 0U);
  EXPECT_EQ(ReadLittleEndian(""), 0U);
}

TEST(ByteOrderDeathTest, MoreThanEightBytesAreABug) {
  EXPECT_DEATH(ReadBigEndian("123456789"), "sizeof");
  EXPECT_DEATH(ReadLittleEndian("123456789"), "sizeof");
}

}  // namespace
}  // namespace fieldcost

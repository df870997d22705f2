#include "common/wire/number_columns.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "common/wire/wire.pb.h"

namespace fieldcost::wire {
namespace {

using stats::Uint128;

constexpr Uint128 kAll = ~Uint128{0};

// A number of that many bits, and otherwise random ones.
Uint128 NumberOf(unsigned bits, std::mt19937_64& random) {
  if (bits == 0) return 0;
  const Uint128 any = (Uint128{random()} << 64) | random();
  return (any >> (128 - bits)) | (Uint128{1} << (bits - 1));
}

proto::Fragment Written(NumberWriter& writer) {
  proto::Fragment fragment;
  writer.MoveTo(fragment);
  return fragment;
}

proto::Fragment OneNumber(Uint128 number) {
  NumberWriter writer;
  writer.Number(Column::kCount, number);
  return Written(writer);
}

TEST(NumberColumnsTest, ReadingGivesBackWhatWasWritten) {
  std::mt19937_64 random(2);
  NumberWriter writer;
  std::vector<Uint128> numbers;
  for (int i = 0; i < 20'000; ++i)
    numbers.push_back(NumberOf(static_cast<unsigned>(random() % 129), random));
  const auto expected = [](std::size_t i) { return static_cast<int>(i % 200) - 30; };
  for (std::size_t i = 0; i < numbers.size(); i += 4) numbers[i] &= 0xff;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i % 4 == 0) writer.Byte(Column::kShare, static_cast<std::uint8_t>(numbers[i]));
    if (i % 4 == 1) writer.Number(Column::kCount, numbers[i]);
    if (i % 4 == 2) writer.Signed(Column::kBoundedSum, numbers[i]);
    if (i % 4 == 3) writer.SignedNear(Column::kRowKind, numbers[i], expected(i));
  }
  const proto::Fragment fragment = Written(writer);
  EXPECT_EQ(fragment.row_kind().find('\0'), std::string::npos) << "free for another meaning";
  NumberReader reader(fragment);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_FALSE(reader.AtEnd());
    Uint128 read = 0;
    if (i % 4 == 0) read = reader.Byte(Column::kShare);
    if (i % 4 == 1) read = reader.Number(Column::kCount);
    if (i % 4 == 2) read = reader.Signed(Column::kBoundedSum);
    if (i % 4 == 3) read = reader.SignedNear(Column::kRowKind, expected(i));
    ASSERT_TRUE(read == numbers[i]) << i;
  }
  EXPECT_FALSE(reader.failed());
  EXPECT_TRUE(reader.AtEnd());
}

TEST(NumberColumnsTest, SignedNumbersNearZeroAreShort) {
  const auto bytes = [](Uint128 number) {
    NumberWriter writer;
    writer.Signed(Column::kMean, number);
    return Written(writer).mean();
  };
  EXPECT_EQ(bytes(0), std::string(1, '\0'));
  EXPECT_EQ(bytes(kAll), "\1") << "-1";
  EXPECT_EQ(bytes(1), "\2");
  EXPECT_EQ(bytes(kAll - 1), "\2") << "-2";
  EXPECT_EQ(bytes(Uint128{1} << 127), "\x80");
}

TEST(NumberColumnsTest, LengthsOutOfRangeAreRefused) {
  proto::Fragment fragment = OneNumber(kAll);
  NumberReader longest(fragment);
  EXPECT_TRUE(longest.Number(Column::kCount) == kAll);
  EXPECT_FALSE(longest.failed());
  NumberReader limited(fragment);
  limited.Number(Column::kCount, 127);
  EXPECT_TRUE(limited.failed());
  fragment.set_count("\x81");
  fragment.set_bits(std::string(17, '\0'));
  NumberReader above(fragment);
  above.Number(Column::kCount);
  EXPECT_TRUE(above.failed());
  // With an expected length of 8, the byte 120 is the number 0, and 249 one of 129 bits.
  for (const auto& [byte, is_refused] :
       {std::pair{119, true}, {120, false}, {248, false}, {249, true}}) {
    fragment.set_sum(std::string(1, static_cast<char>(byte)));
    NumberReader near(fragment);
    near.SignedNear(Column::kSum, 8);
    EXPECT_EQ(near.failed(), is_refused) << byte;
  }
}

TEST(NumberColumnsTest, ExhaustedColumnsAndBitsAreRefused) {
  const proto::Fragment fragment = OneNumber(0x3ff);
  NumberReader reader(fragment);
  EXPECT_TRUE(reader.Number(Column::kCount) == 0x3ff);
  EXPECT_TRUE(reader.AtEnd());
  reader.Number(Column::kCount);
  EXPECT_TRUE(reader.failed());
  NumberReader other(fragment);
  other.Byte(Column::kSum);
  EXPECT_TRUE(other.failed());
  for (const unsigned bits : {10U, 60U, 128U}) {
    proto::Fragment shorter = OneNumber(Uint128{1} << (bits - 1));
    shorter.mutable_bits()->pop_back();
    NumberReader cut(shorter);
    cut.Number(Column::kCount);
    EXPECT_TRUE(cut.failed()) << bits;
  }
}

TEST(NumberColumnsTest, EverythingIsReadToTheEnd) {
  const auto is_at_end = [](const proto::Fragment& fragment) {
    NumberReader reader(fragment);
    reader.Number(Column::kCount);
    EXPECT_FALSE(reader.failed());
    return reader.AtEnd();
  };
  proto::Fragment fragment = OneNumber(0x3ff);  // 9 bits
  EXPECT_TRUE(is_at_end(fragment));
  EXPECT_EQ(fragment.bits(), "\xff\x01");
  fragment.set_bits("\xff\x03");
  EXPECT_FALSE(is_at_end(fragment)) << "a bit is set after the last one";
  fragment.set_bits(std::string("\xff\x01\0", 3));
  EXPECT_FALSE(is_at_end(fragment)) << "a byte follows";
  fragment = OneNumber(0x1ff);  // 8 bits
  EXPECT_TRUE(is_at_end(fragment));
  fragment.set_untimed(std::string(1, '\0'));
  EXPECT_FALSE(is_at_end(fragment)) << "a column has a byte left";
}

TEST(NumberColumnsTest, BoundariesAreThoseOfLargeColumns) {
  proto::Fragment fragment;
  fragment.set_format_version(1);
  fragment.set_mean(std::string(5000, 'm'));
  fragment.set_mean_squared("few");
  fragment.set_squares(std::string(2000, 's'));
  fragment.set_share(std::string(1500, 'h'));
  fragment.set_bits(std::string(3000, 'b'));
  const std::string message = fragment.SerializeAsString();
  const auto boundaries = ColumnBoundaries(fragment, message.size());
  ASSERT_EQ(boundaries.size(), 5U);
  EXPECT_EQ(message.find('m'), boundaries[0] + 3);
  EXPECT_EQ(message.rfind('m') + 1, boundaries[1]);
  EXPECT_EQ(message.find("sss"), boundaries[2] + 4) << "tag and length have two bytes each";
  EXPECT_EQ(message.find('h'), boundaries[3] + 4);
  EXPECT_EQ(message.find('b'), boundaries[4] + 4);
  EXPECT_TRUE(ColumnBoundaries(proto::Fragment(), 0).empty());
}

}  // namespace
}  // namespace fieldcost::wire

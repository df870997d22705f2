#include "common/base/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace fieldcost {
namespace {

TEST(Crc32cTest, IsThatOfTheStandard) {
  EXPECT_EQ(Crc32c(""), 0U);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aaU);  // RFC 3720, appendix B.4
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  EXPECT_EQ(internal::Crc32cByTable("123456789"), 0xe3069283U);
}

TEST(Crc32cTest, InstructionAndTableAgreeWhereverBytesAreDivided) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string bytes(random() % 100, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const std::string_view all = bytes;
    const std::size_t middle = random() % (bytes.size() + 1);
    const std::uint32_t whole = Crc32c(all);
    EXPECT_EQ(internal::Crc32cByTable(all), whole);
    EXPECT_EQ(Crc32c(all.substr(middle), Crc32c(all.substr(0, middle))), whole);
    EXPECT_EQ(internal::Crc32cByTable(all.substr(middle), Crc32c(all.substr(0, middle))), whole);
  }
}

}  // namespace
}  // namespace fieldcost

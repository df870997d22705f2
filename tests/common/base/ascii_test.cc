#include "common/base/ascii.h"

#include <gtest/gtest.h>

namespace fieldcost {
namespace {

// All characters that satisfy the predicate, in code order.
std::string AllOf(bool (*is_of_kind)(char)) {
  std::string all;
  for (int code = 0; code < 256; ++code) {
    if (is_of_kind(static_cast<char>(code))) all += static_cast<char>(code);
  }
  return all;
}

TEST(AsciiTest, EachKindHasItsCharactersAndNoOthers) {
  const std::string digits = "0123456789";
  const std::string upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const std::string lower = "abcdefghijklmnopqrstuvwxyz";
  EXPECT_EQ(AllOf(IsDigit), digits);
  EXPECT_EQ(AllOf(IsLowerLetter), lower);
  EXPECT_EQ(AllOf(IsUpperLetter), upper);
  EXPECT_EQ(AllOf(IsLetter), upper + lower);
  EXPECT_EQ(AllOf(IsLetterOrDigit), digits + upper + lower);
  EXPECT_EQ(AllOf(IsWordCharacter), digits + upper + "_" + lower);
  EXPECT_EQ(AllOf(IsLowerHexDigit), digits + "abcdef");
  EXPECT_EQ(AllOf(IsHexDigit), digits + "ABCDEF" + "abcdef");
}

TEST(AsciiTest, Sha256IsExactly64LowerCaseHexadecimalDigits) {
  EXPECT_TRUE(IsHexSha256(std::string(64, 'a')));
  EXPECT_FALSE(IsHexSha256(std::string(63, 'a')));
  EXPECT_FALSE(IsHexSha256(std::string(65, 'a')));
  EXPECT_FALSE(IsHexSha256(std::string(64, 'A')));
  EXPECT_FALSE(IsHexSha256(std::string(63, 'a') + 'g'));
}

TEST(AsciiTest, AllOfATextMustBeOfTheKind) {
  EXPECT_TRUE(AreAll("2026", IsDigit));
  EXPECT_TRUE(AreAll("", IsDigit));
  EXPECT_FALSE(AreAll("20 26", IsDigit));
}

TEST(AsciiTest, OnlyLettersOfAsciiBecomeLowerCase) {
  EXPECT_EQ(LowerCase("Straße Ärger HTTPS://[::1]"), "straße Ärger https://[::1]");
}

}  // namespace
}  // namespace fieldcost

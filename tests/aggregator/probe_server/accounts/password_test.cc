#include "aggregator/probe_server/accounts/password.h"

#include <gtest/gtest.h>

#include "aggregator/probe_server/accounts/names.h"

namespace fieldcost::probe_server {
namespace {

TEST(NamesTest, NamesAreTextWithoutBlanksAround) {
  for (const char* name : {"alice", "Ää ß", "a", "<b>"}) {
    EXPECT_TRUE(CheckName("user", name).has_value()) << name;
  }
  for (const std::string& name :
       {std::string(), std::string(" a"), std::string("a "), std::string("a\nb"),
        std::string("\xff"), std::string(kMaxNameBytes + 1, 'a')}) {
    EXPECT_FALSE(CheckName("user", name).has_value()) << name;
  }
}

TEST(PasswordTest, TwelveLettersSufficeInAnyEncodingLength) {
  EXPECT_FALSE(CheckPassword("12345678901").has_value());
  EXPECT_TRUE(CheckPassword("123456789012").has_value());
  EXPECT_FALSE(CheckPassword("ääääääääääÄ").has_value());  // 11 letters of two bytes each
  EXPECT_TRUE(CheckPassword("ääääääääääÄÖ").has_value());
  EXPECT_FALSE(CheckPassword(std::string(kMaxPasswordBytes + 1, 'a')).has_value());
}

TEST(PasswordTest, HashMatchesOnlyItsPassword) {
  const std::string hash = *HashPassword("correct horse battery");
  EXPECT_EQ(hash.rfind("$argon2id$v=19$m=65536,t=2,p=1$", 0), 0U) << hash;
  EXPECT_NE(hash, *HashPassword("correct horse battery"));
  EXPECT_TRUE(VerifyPassword(hash, "correct horse battery"));
  EXPECT_FALSE(VerifyPassword(hash, "correct horse batterY"));
  EXPECT_FALSE(VerifyPassword("", ""));
  EXPECT_FALSE(VerifyPassword("", "correct horse battery"));
  EXPECT_FALSE(VerifyPassword("damaged", "correct horse battery"));
}

}  // namespace
}  // namespace fieldcost::probe_server

#include "common/crypto/sip_hash.h"

#include <gtest/gtest.h>

#include <string>

namespace fieldcost::crypto {
namespace {

std::string Counting(std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(i);
  return bytes;
}

// The vectors of the paper's reference implementation: messages 00, 00 01, ... with key 00 .. 0f.
TEST(SipHashTest, GivesThePublishedValues) {
  SipHash hash(Counting(16));
  EXPECT_EQ(hash(""), 0x726fdb47dd0e0e31U);
  EXPECT_EQ(hash(Counting(1)), 0x74f839c593dc67fdU);
  EXPECT_EQ(hash(Counting(15)), 0xa129ca6149be45e5U);
  EXPECT_EQ(hash(Counting(63)), 0x958a324ceb064572U);
}

TEST(SipHashTest, TheKeyDecides) {
  SipHash hash(Counting(16));
  const std::uint64_t first = hash("text");
  hash.SetKey(std::string(16, 'k'));
  EXPECT_NE(hash("text"), first);
  SipHash moved = std::move(hash);
  EXPECT_EQ(moved("text"), SipHash(std::string(16, 'k'))("text"));
}

TEST(SipHashDeathTest, AKeyOfAnotherLengthIsABug) {
  SipHash hash(Counting(16));
  EXPECT_DEATH(hash.SetKey(Counting(15)), "kKeyBytes");
}

}  // namespace
}  // namespace fieldcost::crypto

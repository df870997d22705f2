#include "common/shm/mix.h"

#include <gtest/gtest.h>

// Values from other implementations: existing seeds, samples and names must keep their hashes.

namespace fieldcost::shm {
namespace {

TEST(MixTest, SequencesAreThoseOfSplitMix64) {
  std::uint64_t state = 0;  // the output of its authors' program
  EXPECT_EQ(NextRandom(&state), 0xe220a8397b1dcdaf);
  EXPECT_EQ(NextRandom(&state), 0x6e789e6aa1b965f4);
  EXPECT_EQ(NextRandom(&state), 0x06c45d188009454f);
  EXPECT_EQ(MixBits(0), 0xe220a8397b1dcdaf);
  EXPECT_EQ(FinaliseBits(0), 0U);
  EXPECT_EQ(FinaliseBits(0x9e3779b97f4a7c15), MixBits(0));
}

TEST(MixTest, HashesAreThoseOfFnv1a) {
  EXPECT_EQ(HashText(""), 0xcbf29ce484222325);  // the test vectors of its specification
  EXPECT_EQ(HashText("a"), 0xaf63dc4c8601ec8c);
  EXPECT_EQ(HashText("foobar"), 0x85944171f73967e8);
  EXPECT_EQ(HashText("bar", HashText("foo")), HashText("foobar"));
}

TEST(MixTest, ANumberIsItsEightBytesLowestFirst) {
  EXPECT_EQ(HashNumber(0x7261626f6f66), HashBytes("foobar\0\0", 8));
  EXPECT_EQ(HashNumber(1, HashText("x")), HashBytes("x\1\0\0\0\0\0\0\0", 9));
}

}  // namespace
}  // namespace fieldcost::shm

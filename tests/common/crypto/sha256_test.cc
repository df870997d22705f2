#include "common/crypto/sha256.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "common/base/text.h"
#include "common/crypto/random.h"

namespace fieldcost::crypto {
namespace {

// FIPS 180-4 examples, as published by NIST.
TEST(Sha256Test, GivesThePublishedDigests) {
  EXPECT_EQ(HexEncode(Sha256("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(HexEncode(Sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HexEncode(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(HexEncode(Sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// RFC 4231, tests 1, 2, 3 and 6 (a key longer than a block).
TEST(HmacSha256Test, GivesThePublishedCodes) {
  EXPECT_EQ(HexEncode(HmacSha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(HexEncode(HmacSha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(HexEncode(HmacSha256(std::string(20, '\xaa'), std::string(50, '\xdd'))),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(HexEncode(HmacSha256(std::string(131, '\xaa'),
                                 "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(HmacSha256Test, AnEmptyKeyIsAKey) {
  EXPECT_EQ(HexEncode(HmacSha256({}, {})),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST(RandomTest, BytesHaveTheLengthAskedForAndDoNotRepeat) {
  EXPECT_EQ(RandomBytes(0), "");
  std::set<std::string> seen;
  std::set<std::uint64_t> numbers;
  for (int i = 0; i < 1000; ++i) {
    const std::string bytes = RandomBytes(16);
    ASSERT_EQ(bytes.size(), 16u);
    EXPECT_TRUE(seen.insert(bytes).second);
    EXPECT_TRUE(numbers.insert(RandomUint64()).second);
  }
}

}  // namespace
}  // namespace fieldcost::crypto

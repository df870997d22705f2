#include "common/crypto/ed25519.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "common/base/file.h"
#include "common/base/text.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::crypto {
namespace {

using ::testing::HasSubstr;

std::string Raw(std::string_view hex) { return HexDecode(hex).value(); }

struct Vector {
  const char* seed;
  const char* public_key;
  const char* message;
  const char* signature;
};

// RFC 8032 §7.1, tests 1 to 3 and SHA(abc).
constexpr Vector kVectors[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
     "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
     "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
     "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"},
    {"833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
     "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
     "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
     "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
     "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
     "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704"},
};

TEST(Ed25519Test, SignsAndVerifiesAsInRfc8032) {
  for (const Vector& vector : kVectors) {
    const PrivateKey key = PrivateKey::FromSeed(Raw(vector.seed));
    EXPECT_EQ(key.public_key().Hex(), vector.public_key);
    const std::string signature = key.Sign(Raw(vector.message));
    EXPECT_EQ(signature, Raw(vector.signature));
    EXPECT_TRUE(Verify(key.public_key(), Raw(vector.message), signature));
  }
}

TEST(Ed25519Test, AnyFlippedBitSpoilsTheSignature) {
  const PrivateKey key = PrivateKey::Generate();
  const std::string message = "twelve bytes";
  const std::string signature = key.Sign(message);
  for (std::size_t bit = 0; bit < signature.size() * 8; ++bit) {
    std::string changed = signature;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(Verify(key.public_key(), message, changed)) << "bit " << bit;
  }
  for (std::size_t bit = 0; bit < message.size() * 8; ++bit) {
    std::string changed = message;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(Verify(key.public_key(), changed, signature)) << "bit " << bit;
  }
}

TEST(Ed25519Test, SignaturesOfAnotherLengthOrKeyDoNotVerify) {
  const PrivateKey key = PrivateKey::Generate();
  const std::string signature = key.Sign("message");
  EXPECT_FALSE(Verify(key.public_key(), "message", ""));
  EXPECT_FALSE(Verify(key.public_key(), "message", signature.substr(1)));
  EXPECT_FALSE(Verify(key.public_key(), "message", signature + "x"));
  EXPECT_FALSE(Verify(PrivateKey::Generate().public_key(), "message", signature));
}

TEST(Ed25519Test, AnUnreducedScalarDoesNotVerify) {
  // S + L satisfies the same equation; RFC 8032 §5.1.7 requires S < L, since otherwise signatures
  // are malleable.
  constexpr std::uint8_t kOrder[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,
                                       0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
                                       0,    0,    0,    0,    0,    0,    0,    0,
                                       0,    0,    0,    0,    0,    0,    0,    0x10};
  const PrivateKey key = PrivateKey::FromSeed(Raw(kVectors[0].seed));
  std::string signature = key.Sign("");
  int carry = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    const int sum = static_cast<std::uint8_t>(signature[32 + i]) + kOrder[i] + carry;
    signature[32 + i] = static_cast<char>(sum & 0xff);
    carry = sum >> 8;
  }
  ASSERT_EQ(carry, 0);
  EXPECT_FALSE(Verify(key.public_key(), "", signature));
}

TEST(Ed25519Test, PublicKeysParseFromExactly64HexDigits) {
  const PublicKey key = PrivateKey::Generate().public_key();
  EXPECT_EQ(ParsePublicKey(key.Hex()).value(), key);
  for (const std::string& text : {std::string(), key.Hex().substr(2), key.Hex() + "00",
                                  "g" + key.Hex().substr(1), key.Hex() + "\n"}) {
    const Result<PublicKey> parsed = ParsePublicKey(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(KeyFileTest, IsMadeOnceWithMode0600AndThenLoaded) {
  const testing::TempDir directory;
  const std::filesystem::path path = directory.path() / "agent.key";
  const Result<PrivateKey> made = PrivateKey::LoadOrCreate(path);
  ASSERT_TRUE(made) << made.error().message;
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_EQ(ReadFile(path, 1000).value().size(), 65u);
  const Result<PrivateKey> loaded = PrivateKey::LoadOrCreate(path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->public_key(), made->public_key());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(KeyFileTest, ProgramsThatStartAtOnceAgreeOnOneKey) {
  const testing::TempDir directory;
  const std::filesystem::path path = directory.path() / "agent.key";
  std::vector<std::string> keys(8);
  std::vector<std::thread> threads;
  for (std::string& key : keys) {
    threads.emplace_back([&key, &path] {
      const Result<PrivateKey> loaded = PrivateKey::LoadOrCreate(path);
      key = loaded ? loaded->public_key().Hex() : loaded.error().message;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(keys[0].size(), 64u) << keys[0];
  EXPECT_THAT(keys, ::testing::Each(keys[0]));
}

TEST(KeyFileTest, ReadableByOthersIsRefused) {
  const testing::TempDir directory;
  const std::filesystem::path path = directory.path() / "agent.key";
  ASSERT_TRUE(PrivateKey::LoadOrCreate(path));
  for (const mode_t mode : {0640u, 0604u, 0620u, 0610u}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const Result<PrivateKey> loaded = PrivateKey::LoadOrCreate(path);
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().code, ErrorCode::kPermissionDenied);
    EXPECT_THAT(loaded.error().message, HasSubstr(path.string()));
    EXPECT_THAT(loaded.error().message, HasSubstr("chmod 600"));
  }
}

TEST(KeyFileTest, DamagedFilesAreRefusedAndKept) {
  const testing::TempDir directory;
  const std::filesystem::path path = directory.path() / "agent.key";
  const std::string digits(64, 'a');
  for (const std::string& text : {std::string(), digits.substr(2), digits + "aa\n", digits + "\n\n",
                                  "x" + digits.substr(1)}) {
    ASSERT_TRUE(WriteFileAtomically(path, text, 0600));
    const Result<PrivateKey> loaded = PrivateKey::LoadOrCreate(path);
    ASSERT_FALSE(loaded) << text;
    EXPECT_EQ(loaded.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(loaded.error().message, HasSubstr(path.string()));
    EXPECT_THAT(loaded.error().message, ::testing::Not(HasSubstr("aaaa")));
    EXPECT_EQ(ReadFile(path, 1000).value(), text);
  }
}

TEST(KeyFileTest, ADirectoryInItsPlaceOrNoDirectoryAtAllIsAClearError) {
  const testing::TempDir directory;
  const Result<PrivateKey> in_place = PrivateKey::LoadOrCreate(directory.path());
  ASSERT_FALSE(in_place);
  EXPECT_THAT(in_place.error().message, HasSubstr("not a regular file"));
  const Result<PrivateKey> nowhere = PrivateKey::LoadOrCreate(directory.path() / "none" / "key");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(nowhere.error().message, HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace fieldcost::crypto

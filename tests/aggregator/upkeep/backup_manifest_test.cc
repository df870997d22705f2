#include "aggregator/upkeep/backup_manifest.h"

#include <gtest/gtest.h>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"

namespace fieldcost::aggregator {
namespace {

std::string HexHash(std::string_view bytes) { return HexEncode(crypto::Sha256(bytes)); }

// Adds the header, and the checksum line that completes a manifest.
std::string Sealed(const std::string& lines) {
  const std::string text = "fieldcost-backup 1\n" + lines;
  return text + "sum " + HexHash(text) + "\n";
}

std::vector<BackedUpFile> Sample() {
  return {{.path = "keys/pseudonym.secret", .mode = 0600, .size_bytes = 65, .sha256 = HexHash("a")},
          {.path = "publish/root/12", .mode = 0644, .size_bytes = 262, .sha256 = HexHash("b")},
          {.path = "publish/policy", .mode = 0644, .size_bytes = 0, .sha256 = HexHash("")}};
}

TEST(BackupManifestTest, HasTheBytesOfTheGoldenFileAndComesBack) {
  const auto golden =
      ReadFile(std::filesystem::path(FIELDCOST_TEST_DATA) / "backup_manifest.golden", 64 * 1024);
  ASSERT_TRUE(golden.has_value());
  EXPECT_EQ(EncodeManifest(Sample()), *golden);
  EXPECT_EQ(DecodeManifest(*golden).value(), Sample());
  EXPECT_TRUE(DecodeManifest(EncodeManifest({})).value().empty());
}

TEST(BackupManifestTest, EveryChangedByteIsNoticed) {
  const std::string good = EncodeManifest(Sample());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string changed = good;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(DecodeManifest(changed).has_value()) << i;
    EXPECT_FALSE(DecodeManifest(good.substr(0, i)).has_value()) << i;
  }
  EXPECT_FALSE(DecodeManifest(good + "\n").has_value());
}

TEST(BackupManifestTest, PathsOutsideOurFoldersAndOddLinesAreRefused) {
  const std::string hash = HexHash("x");
  ASSERT_TRUE(DecodeManifest(Sealed("file 600 1 " + hash + " keys/a.key\n")).has_value());
  for (const std::string& line :
       {"file 600 1 " + hash + " keys/../a", "file 600 1 " + hash + " /etc/passwd",
        "file 600 1 " + hash + " keys/a/b", "file 600 1 " + hash + " keys/",
        "file 600 1 " + hash + " keys/.hidden", "file 600 1 " + hash + " store/CURRENT",
        "file 600 1 " + hash + " keys/a b", "file 755 1 " + hash + " keys/a",
        "file 600 -1 " + hash + " keys/a", "file 600 99999999 " + hash + " keys/a",
        "file 600 1 " + hash.substr(1) + " keys/a", "file 600 1 " + hash.substr(1) + "G keys/a",
        "link 600 1 " + hash + " keys/a", std::string("file"), std::string()}) {
    const auto decoded = DecodeManifest(Sealed(line + "\n"));
    ASSERT_FALSE(decoded.has_value()) << line;
    EXPECT_EQ(decoded.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_EQ(DecodeManifest("fieldcost-backup 2\n").error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(DecodeManifest("").error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace fieldcost::aggregator

// Tests the witness file: its format, and how a sync continues it.
#include "common/catalog/witness.h"

#include <sys/stat.h>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "tests/common/catalog/sync_fixture.h"

namespace fieldcost::catalog {
namespace {

using ::testing::HasSubstr;
using testing::MakeRows;

WitnessedSnapshot Seventh() {
  return {.version = 7, .published = "2026-11-22T10:00:30Z", .sha256 = crypto::HexSha256("seven")};
}
WitnessedSnapshot Ninth() {
  return {.version = 9, .published = "2026-11-24T10:00:30Z", .sha256 = crypto::HexSha256("nine")};
}

std::string TextOf(const std::vector<WitnessedSnapshot>& snapshots) {
  std::string text;
  for (const WitnessedSnapshot& snapshot : snapshots) {
    text += NextWitnessText(ParseWitness(text).value(), snapshot).value();
  }
  return text;
}

TEST(WitnessTest, HasTheFormatOfTheGoldenFile) {
  const std::string golden = ReadFile(FIELDCOST_CATALOG_GOLDEN_DIR "/witness.txt", kMiB).value();
  EXPECT_EQ(TextOf({Seventh(), Ninth()}), golden);
  const auto witness = ParseWitness(golden);
  ASSERT_TRUE(witness) << witness.error().message;
  EXPECT_EQ(witness->snapshot_count, 2U);
  EXPECT_EQ(witness->last, Ninth());
}

TEST(WitnessTest, EveryChangeOfTheFileIsNoticedExceptOfItsLastLine) {
  const std::string good =
      TextOf({Seventh(), Ninth(), {10, "2026-11-25T10:00:30Z", crypto::HexSha256("ten")}});
  const std::size_t last_line = good.rfind('\n', good.size() - 2) + 1;
  for (std::size_t at = 0; at < last_line; ++at) {
    std::string changed = good;
    changed[at] = changed[at] == '1' ? '2' : '1';
    EXPECT_FALSE(ParseWitness(changed)) << at;
    changed = good;
    changed.erase(at, 1);
    EXPECT_FALSE(ParseWitness(changed)) << at;
  }
  for (std::size_t size = 1; size < good.size(); ++size) {
    const bool is_whole_line = good[size - 1] == '\n';
    EXPECT_EQ(ParseWitness(good.substr(0, size)).has_value(), is_whole_line) << size;
  }
}

TEST(WitnessTest, MalformedLinesAreRefusedWithTheirNumber) {
  const std::string header = "fieldcost witness 1\n";
  const std::string hash(64, 'a');
  const std::string previous = crypto::HexSha256(header);
  const std::string time = "2026-11-22T10:00:30Z";
  ASSERT_TRUE(ParseWitness(header + "7 " + time + " " + hash + " " + previous + "\n"));
  for (const std::string& line :
       {std::string(), "7 " + time + " " + hash, "07 " + time + " " + hash + " " + previous,
        "x " + time + " " + hash + " " + previous, "7 2026-11-22 " + hash + " " + previous,
        "7 " + time + " " + std::string(64, 'A') + " " + previous,
        "7 " + time + " " + hash.substr(1) + " " + previous,
        "7 " + time + " " + hash + " " + previous + " ", "7 " + time + " " + hash + " " + hash,
        "18446744073709551616 " + time + " " + hash + " " + previous}) {
    const auto witness = ParseWitness(header + line + "\n");
    ASSERT_FALSE(witness) << line;
    EXPECT_EQ(witness.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(witness.error().message, HasSubstr("line 2")) << line;
  }
}

class WitnessSyncTest : public SyncTest {
 protected:
  Result<SyncReport> SyncWithWitness() {
    SyncOptions options = publisher_.Client(directory_.path());
    options.full = true;
    options.witness_file = file();
    return Sync(options, clock_);
  }
  void ExpectWitnessRefused(ErrorCode code, const std::string& why) {
    const std::string before = ReadFile(file(), kMiB).value();
    const auto report = SyncWithWitness();
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().code, code);
    EXPECT_THAT(report.error().message, HasSubstr(file().string()));
    EXPECT_THAT(report.error().message, HasSubstr(why));
    EXPECT_EQ(ReadFile(file(), kMiB).value(), before);
  }
  std::filesystem::path file() const { return directory_.path() / "witness.txt"; }
};

TEST_F(WitnessSyncTest, EachNewSnapshotIsAddedOnce) {
  for (std::uint64_t version = 1; version <= 3; ++version) {
    publisher_.Publish(MakeRows(10, 1000 * version), 1, kNow);
    const auto first = SyncWithWitness();
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_EQ(first->witnessed_snapshots, version);
    EXPECT_TRUE(first->is_new_in_witness);
    const auto again = SyncWithWitness();
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->witnessed_snapshots, version);
    EXPECT_FALSE(again->is_new_in_witness);
    const auto witness = LoadWitness(file());
    EXPECT_EQ(witness->last.version, version);
    EXPECT_EQ(witness->last.published, "2024-10-04T00:00:00Z");
    EXPECT_EQ(witness->last.sha256, HexEncode(publisher_.timestamp.snapshot_sha256));
  }
}

TEST_F(WitnessSyncTest, AnotherCataloguesFileShowsASecondHistory) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  ASSERT_TRUE(SyncWithWitness());
  // The server shows other data to a user whose catalogue is new.
  std::filesystem::remove(directory_.path() / "catalog.db");
  publisher_.snapshot.version = 0;
  publisher_.Publish(MakeRows(10, 2000), 1, kNow);
  ExpectWitnessRefused(ErrorCode::kUnauthenticated, "two histories");
  publisher_.Publish(MakeRows(10, 2000), 1, kNow);
  ASSERT_TRUE(SyncWithWitness());
  std::filesystem::remove(directory_.path() / "catalog.db");
  publisher_.snapshot.version = 0;
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  ExpectWitnessRefused(ErrorCode::kUnauthenticated,
                       "ends with snapshot version 2, but the server presents version 1");
}

TEST_F(WitnessSyncTest, ADamagedFileIsReportedBeforeAnythingIsFetched) {
  publisher_.Publish(MakeRows(10, 1000), 1, kNow);
  ASSERT_TRUE(WriteFileAtomically(file(), "notes\n", 0644));
  ExpectWitnessRefused(ErrorCode::kCorrupt, "not a witness file");
  EXPECT_TRUE(publisher_.TakeRequests().empty());
}

}  // namespace
}  // namespace fieldcost::catalog

// Downloads that are cut off at any byte, by a real server.
#include <fstream>
#include <optional>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/catalog/catalog_schema.h"
#include "common/wire/public_tree.h"
#include "tests/common/catalog/sync_fixture.h"
#include "tests/support/process.h"

namespace fieldcost::catalog {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ResumptionTest : public SyncTest {
 protected:
  // One fragment.
  ResumptionTest() {
    publisher_.Publish(testing::MakeRows(40, 1000), 0, kNow);
    const auto& reference = publisher_.snapshot.fragments.at(0);
    path_ = wire::FragmentPath(reference.sha256);
    size_ = reference.size_bytes;
    for (const std::string& path :
         {std::string(wire::kTimestampPath), wire::RootVersionPath(1),
          wire::SnapshotPath(publisher_.timestamp.snapshot_sha256), path_}) {
      const std::filesystem::path file = directory_.path() / "tree" / path.substr(1);
      EXPECT_TRUE(MakeDirectories(file.parent_path(), 0755));
      EXPECT_TRUE(WriteFileAtomically(file, publisher_.Get(path), 0644));
    }
  }

  void Start(const std::string& mode, std::int64_t bytes) {
    server_.emplace(testing::ProcessOptions{
        .arguments = {"python3", FIELDCOST_CATALOG_TEST_DIR "/cutting_server.py",
                      publisher_.certificates().certificate.string(),
                      publisher_.certificates().key.string(), (directory_.path() / "tree").string(),
                      mode, std::to_string(bytes)},
        .environment = {},
        .unset = {},
        .directory = {},
        .input = {}});
    std::string line;
    ASSERT_TRUE(server_->WaitForLine("port ", &line));
    port_ = line.substr(line.find(' ') + 1);
  }
  std::string Url() const { return "https://localhost:" + port_; }

  Result<SyncReport> Resume() {
    SyncOptions options = publisher_.Client(directory_.path());
    options.server.url = Url();
    return Sync(options, clock_);
  }
  void ExpectRequest(const std::string& range, int status) {
    std::string line;
    ASSERT_TRUE(server_->WaitForLine(path_, &line));
    EXPECT_EQ(line, fmt::format("{} {} {}", path_, range, status));
  }
  void RemoveCatalogue() {
    for (const char* name : {"catalog.db", "catalog.db-wal", "catalog.db-shm"}) {
      std::filesystem::remove(directory_.path() / name);
    }
  }
  std::uint64_t KeptBytes() {
    const auto database = OpenForReading(directory_.path() / "catalog.db");
    return database
               ? database->QueryInt("SELECT coalesce(sum(length(bytes)), 0) FROM parts").value()
               : 0;
  }
  void Keep(const std::string& part) {
    auto database = OpenForWriting(directory_.path() / "catalog.db");
    ASSERT_TRUE(database);
    ASSERT_TRUE(SavePart(*database, publisher_.snapshot.fragments.at(0).sha256, part));
  }

  std::string path_;
  std::uint64_t size_ = 0;
  std::string port_;
  std::optional<testing::BackgroundProcess> server_;
};

TEST_F(ResumptionTest, ADownloadThatIsCutContinuesAtThatByte) {
  for (const std::uint64_t cut : {std::uint64_t{1}, std::uint64_t{7}, size_ / 2, size_ - 1}) {
    Start("once", static_cast<std::int64_t>(cut));
    const auto report = Resume();
    ASSERT_TRUE(report) << cut << ": " << report.error().message;
    EXPECT_EQ(report->bytes_fetched, size_);
    EXPECT_EQ(SumOf(39), 40'000U) << cut;
    ExpectRequest("-", 200);
    ExpectRequest(fmt::format("bytes={}-", cut), 206);
    EXPECT_EQ(KeptBytes(), 0U);
    RemoveCatalogue();
  }
}

TEST_F(ResumptionTest, WithoutABodyThereIsNothingToContinue) {
  Start("range", 0);
  const auto report = Resume();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(KeptBytes(), 0U);
}

TEST_F(ResumptionTest, RequestsAreLimitedAndTheNextSyncContinues) {
  const auto step = static_cast<std::int64_t>(size_ / (2 * kMaxRequestsPerFile) + 1);
  Start("range", step);
  std::uint64_t kept = 0;
  int syncs = 0;
  for (; syncs < 5; ++syncs) {
    const auto report = Resume();
    if (report) break;
    EXPECT_EQ(report.error().code, ErrorCode::kUnavailable) << report.error().message;
    EXPECT_EQ(KeptBytes(), kept + static_cast<std::uint64_t>(kMaxRequestsPerFile * step));
    kept = KeptBytes();
    EXPECT_FALSE(Fresh().is_complete);
  }
  EXPECT_EQ(syncs, 1);
  EXPECT_EQ(SumOf(39), 40'000U);
  EXPECT_EQ(KeptBytes(), 0U);
}

TEST_F(ResumptionTest, ServersWithoutRangesSendAllOfIt) {
  for (const auto& [mode, status] :
       {std::pair("whole", 200), std::pair("refuse", 416), std::pair("shifted", 206)}) {
    Start(mode, static_cast<std::int64_t>(size_ / 2));
    const auto report = Resume();
    ASSERT_TRUE(report) << mode << ": " << report.error().message;
    EXPECT_EQ(SumOf(39), 40'000U);
    ExpectRequest("-", 200);
    ExpectRequest(fmt::format("bytes={}-", size_ / 2), status);
    if (status != 200) ExpectRequest("-", 200);
    RemoveCatalogue();
  }
}

TEST_F(ResumptionTest, AWrongPartIsDiscardedAndAllOfItRequestedAgain) {
  Start("damaged", static_cast<std::int64_t>(size_ / 2));
  const auto report = Resume();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(SumOf(39), 40'000U);
  ExpectRequest("-", 200);
  ExpectRequest(fmt::format("bytes={}-", size_ / 2), 206);
  ExpectRequest("-", 200);
  EXPECT_EQ(KeptBytes(), 0U);
}

TEST_F(ResumptionTest, APartKeptFromAnEarlierSyncIsNeverTrusted) {
  const std::string whole = publisher_.Get(path_);
  Start("range", -1);
  ASSERT_TRUE(Resume());
  ExpectRequest("-", 200);
  // The right beginning, a wrong one, one as long as the file, and one that is longer.
  for (const auto& [part, first_request] :
       {std::pair(whole.substr(0, 9), "bytes=9-"), std::pair(std::string(9, 'x'), "bytes=9-"),
        std::pair(std::string(size_, 'x'), "-"), std::pair(std::string(size_ + 1, 'x'), "-")}) {
    RemoveCatalogue();
    Keep(part);
    const auto report = Resume();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(SumOf(39), 40'000U);
    std::string line;
    ASSERT_TRUE(server_->WaitForLine(path_, &line));
    EXPECT_THAT(line, HasSubstr(first_request));
    if (part == std::string(9, 'x')) ExpectRequest("-", 200);
    EXPECT_EQ(KeptBytes(), 0U);
  }
  // All of it was kept, but the process ended before it was stored.
  RemoveCatalogue();
  Keep(whole);
  ASSERT_TRUE(Resume());
  EXPECT_EQ(SumOf(39), 40'000U);
}

TEST_F(ResumptionTest, PartsAreBoundedAndEndWithTheirSnapshot) {
  const auto file = directory_.path() / "catalog.db";
  auto database = OpenForWriting(file);
  ASSERT_TRUE(database);
  for (char i = 'a'; i < 'z'; ++i) {
    ASSERT_TRUE(SavePart(*database, std::string(32, i), std::string(10, i)));
    ASSERT_TRUE(SavePart(*database, std::string(32, i), std::string(20, i)));
  }
  EXPECT_EQ(KeptBytes(), kMaxParts * 20);
  EXPECT_EQ(LoadParts(*database)->at(std::string(32, 'y')), std::string(20, 'y'));
  EXPECT_FALSE(LoadParts(*database)->contains(std::string(32, 'a')));
  ASSERT_TRUE(SavePart(*database, std::string(32, 'y'), ""));
  EXPECT_EQ(KeptBytes(), (kMaxParts - 1) * 20);
  Start("range", -1);
  ASSERT_TRUE(Resume());
  EXPECT_EQ(KeptBytes(), 0U);
}

}  // namespace
}  // namespace fieldcost::catalog

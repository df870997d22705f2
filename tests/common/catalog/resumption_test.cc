// Downloads that are cut off at any byte, by a real server.
#include "tests/common/catalog/resumption_fixture.h"

namespace fieldcost::catalog {
namespace {

using ::testing::HasSubstr;

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

// A disk that becomes full, or loses power, while a sync keeps a part of a file or uses it.
#include <algorithm>
#include <fstream>

#include "common/stats/stat_row.h"
#include "tests/common/catalog/resumption_fixture.h"
#include "tests/common/sqlite/faulty_disk.h"

namespace fieldcost::catalog {
namespace {

using ::testing::AnyOf;
using testing::FaultyDisk;
using ::testing::HasSubstr;

constexpr std::uint64_t kOldCost = 1000;
constexpr std::uint64_t kNewCost = 2000;

// The state before the download that is cut off.
enum class Before { kNothing, kOlderCatalogueAndShorterPart };

// The next operation at which the disk fails: each of the first ones, then fewer and fewer.
std::uint64_t Later(std::uint64_t operation) { return operation + 1 + operation / 16; }

class PartFaultTest : public ResumptionTest, public ::testing::WithParamInterface<Before> {
 protected:
  void SetUp() override {
    Start("until", 0);
    if (GetParam() == Before::kOlderCatalogueAndShorterPart) {
      ASSERT_TRUE(Resume());
      clock_.Advance(kDay);
      PublishTree(kNewCost);
      cost_before_ = kOldCost;
      cost_after_ = kNewCost;
      ASSERT_FALSE(SyncUntil(size_ / 4));
    }
    Save("before");
    ASSERT_FALSE(SyncUntil(size_ / 2));
    ASSERT_EQ(KeptBytes(), size_ / 2);
    Save("interrupted");
  }

  // The server sends only this many bytes of the fragment.
  Result<SyncReport> SyncUntil(std::uint64_t bytes) {
    std::ofstream(directory_.path() / "tree" / "cut") << bytes;
    auto report = Resume();
    std::filesystem::remove(directory_.path() / "tree" / "cut");
    return report;
  }

  std::filesystem::path file() const { return directory_.path() / "catalog.db"; }
  void Save(const std::string& name) {
    if (std::filesystem::exists(file())) {
      std::filesystem::copy_file(file(), directory_.path() / name);
    }
  }
  void Restore(const std::string& name) {
    RemoveCatalogue();
    if (std::filesystem::exists(directory_.path() / name)) {
      std::filesystem::copy_file(directory_.path() / name, file());
    }
  }

  // The cost of each call of all functions in the catalogue; 0 if there are none.
  std::uint64_t CostOfAll() {
    const auto catalog = Catalog::Open(file());
    if (!catalog) return 0;
    const auto rows = catalog->AllRows();
    EXPECT_TRUE(rows) << rows.error().message;
    if (!rows || rows->empty()) return 0;
    EXPECT_EQ(rows->size(), 40U);
    std::uint64_t calls = 0;
    std::uint64_t sum = 0;
    for (const stats::StatRow& row : *rows) {
      calls += row.histogram.count();
      sum += stats::Low64(row.histogram.sum());
    }
    EXPECT_EQ(sum % calls, 0U);
    return sum / calls;
  }
  void ExpectThatASyncCompletes() {
    const auto report = Resume();
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(CostOfAll(), cost_after_);
    EXPECT_TRUE(Fresh().is_complete);
    EXPECT_EQ(KeptBytes(), 0U);
  }

  std::uint64_t cost_before_ = 0;
  std::uint64_t cost_after_ = kOldCost;
};

TEST_P(PartFaultTest, AFullDiskIsReportedWithWhyTheDownloadEnded) {
  unsigned not_kept = 0;
  bool was_full = true;
  for (std::uint64_t operation = 1; was_full; operation = Later(operation)) {
    SCOPED_TRACE(operation);
    Restore("before");
    FaultyDisk disk(file());
    disk.FailAt(FaultyDisk::Fault::kFull, operation);
    const auto interrupted = SyncUntil(size_ / 2);
    was_full = disk.has_failed();
    ASSERT_FALSE(interrupted);
    const std::string& message = interrupted.error().message;
    if (interrupted.error().code == ErrorCode::kUnavailable) {
      EXPECT_THAT(message, HasSubstr("fetch fragment 0"));
      if (message.find("; the part that was received could not be kept: ") != std::string::npos) {
        EXPECT_THAT(message, HasSubstr("catalog.db: database or disk is full"));
        ++not_kept;
      }
    } else {
      EXPECT_EQ(interrupted.error().code, ErrorCode::kIo) << message;
      EXPECT_THAT(message, AnyOf(HasSubstr("catalog.db: database or disk is full"),
                                 HasSubstr("catalog.db: disk I/O error")));
    }
    const auto still_full = Resume();
    if (was_full) {
      ASSERT_FALSE(still_full);
      EXPECT_EQ(still_full.error().code, ErrorCode::kIo) << still_full.error().message;
    }
    disk.Repair();
    if (was_full) {
      EXPECT_EQ(CostOfAll(), cost_before_);
    }
    ExpectThatASyncCompletes();
  }
  EXPECT_GT(not_kept, 0U);
}

TEST_P(PartFaultTest, AFullDiskWhileTheRestIsStoredKeepsThePart) {
  bool was_full = true;
  for (std::uint64_t operation = 1; was_full; operation = Later(operation)) {
    SCOPED_TRACE(operation);
    Restore("interrupted");
    FaultyDisk disk(file());
    disk.FailAt(FaultyDisk::Fault::kFull, operation);
    const auto report = Resume();
    was_full = disk.has_failed();
    disk.Repair();
    // After the last fragment, only the log is copied to the file, which a later sync does, too.
    if (report) {
      EXPECT_EQ(CostOfAll(), cost_after_);
    } else {
      EXPECT_EQ(report.error().code, ErrorCode::kIo) << report.error().message;
      const std::uint64_t cost = CostOfAll();
      EXPECT_TRUE(cost == cost_before_ || cost == cost_after_) << cost;
      if (cost == cost_before_) {
        EXPECT_EQ(KeptBytes(), size_ / 2);
      }
    }
    ExpectThatASyncCompletes();
  }
}

TEST_P(PartFaultTest, AfterAPowerLossAPartIsThereOrNotAndASyncCompletes) {
  bool was_lost = true;
  bool was_kept = false;
  for (std::uint64_t operation = 1; was_lost; operation = Later(operation)) {
    SCOPED_TRACE(operation);
    Restore("before");
    FaultyDisk disk(file());
    disk.FailAt(FaultyDisk::Fault::kPowerLoss, operation);
    ASSERT_FALSE(SyncUntil(size_ / 2));
    was_lost = disk.has_failed();
    disk.LosePower(operation);
    EXPECT_EQ(CostOfAll(), cost_before_);
    const std::uint64_t kept = KeptBytes();
    EXPECT_TRUE(kept == 0 || kept == size_ / 4 || kept == size_ / 2) << kept;
    was_kept = was_kept || kept == size_ / 2;
    ExpectThatASyncCompletes();
  }
  EXPECT_TRUE(was_kept);
}

TEST_P(PartFaultTest, AfterAPowerLossWhileTheRestIsStoredASyncCompletes) {
  bool was_lost = true;
  for (std::uint64_t operation = 1; was_lost; operation = Later(operation)) {
    SCOPED_TRACE(operation);
    Restore("interrupted");
    FaultyDisk disk(file());
    disk.FailAt(FaultyDisk::Fault::kPowerLoss, operation);
    static_cast<void>(Resume());
    was_lost = disk.has_failed();
    disk.LosePower(operation);
    const std::uint64_t cost = CostOfAll();
    EXPECT_TRUE(cost == cost_before_ || cost == cost_after_) << cost;
    ExpectThatASyncCompletes();
  }
}

INSTANTIATE_TEST_SUITE_P(AllStates, PartFaultTest,
                         ::testing::Values(Before::kNothing, Before::kOlderCatalogueAndShorterPart),
                         [](const auto& state) {
                           return std::string(state.param == Before::kNothing ? "Nothing"
                                                                              : "OlderCatalogue");
                         });

}  // namespace
}  // namespace fieldcost::catalog

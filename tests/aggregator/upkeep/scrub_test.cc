// The whole store is read repeatedly, and damage is found.
#include "aggregator/upkeep/scrub.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "common/base/file.h"
#include "common/base/units.h"
#include "tests/aggregator/store/batches.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::aggregator {
namespace {

constexpr std::chrono::hours kPeriod{7 * 24};
constexpr std::chrono::minutes kInterval{1};

class ScrubTest : public ::testing::Test {
 protected:
  ScrubTest() {
    Open();
    // After this, the engine has no reason to change its files.
    store::TestBatch batch;
    store::MakeTestBatch(1, 1, batch, nullptr);
    EXPECT_TRUE(store_->Accept(batch.View()).has_value());
    EXPECT_TRUE(store_->Compact().has_value());
  }
  void Open() {
    store_.reset();
    auto store = store::Store::Open({.data_dir = dir_.path() / "data", .checkpoint_seconds = 0});
    EXPECT_TRUE(store.has_value()) << store.error().message;
    store_ = std::move(*store);
  }
  std::uint64_t FileBytes() const {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path() / "data/store")) {
      if (entry.path().extension() == ".sst") bytes += entry.file_size();
    }
    return bytes;
  }

  const testing::TempDir dir_;
  testing::FakeClock clock_{WallTime(std::chrono::weeks(2901))};
  std::unique_ptr<store::Store> store_;
};

TEST_F(ScrubTest, AllFilesAreReadOnceInAPeriod) {
  Scrub scrub(*store_, clock_, kPeriod);
  const std::uint64_t bytes = FileBytes();
  ASSERT_TRUE(scrub.Step(kInterval).has_value());
  EXPECT_EQ(scrub.state().bytes, bytes);
  EXPECT_EQ(scrub.state().rounds.successes, 1U);
  EXPECT_EQ(scrub.state().rounds.last_success, clock_.Now());
  clock_.Advance(kPeriod - kInterval);
  ASSERT_TRUE(scrub.Step(kInterval).has_value());
  EXPECT_EQ(scrub.state().rounds.successes, 1U);
  clock_.Advance(kInterval);
  ASSERT_TRUE(scrub.Step(kInterval).has_value());
  EXPECT_EQ(scrub.state().rounds.successes, 2U);
  EXPECT_GE(scrub.state().bytes, 2 * bytes);
}

TEST_F(ScrubTest, FindsAndCountsAllDamagedFiles) {
  std::size_t damaged = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path() / "data/store")) {
    if (entry.path().extension() != ".sst") continue;
    std::string bytes = ReadFile(entry.path(), kMiB).value();
    bytes[bytes.size() / 2] ^= 1;
    ASSERT_TRUE(WriteFileAtomically(entry.path(), bytes, 0600).has_value());
    ++damaged;
  }
  Scrub scrub(*store_, clock_, kPeriod);
  ASSERT_TRUE(scrub.Step(kInterval).has_value());
  EXPECT_EQ(scrub.state().rounds.failures, 1U);
  EXPECT_EQ(scrub.state().rounds.successes, 0U);
  EXPECT_FALSE(scrub.state().rounds.last_success.has_value());
  EXPECT_GE(store_->Gauges().damages, damaged);
  EXPECT_TRUE(store_->healthy()) << "unaffected requests are still served";
}

TEST_F(ScrubTest, ContinuesAfterARestart) {
  const store::CheckedFile first = store_->CheckNextFile(0).value();
  ASSERT_NE(first.number, 0U);
  ASSERT_TRUE(store_->PutNumber("scrub_place", first.number).has_value());
  Open();
  const std::uint64_t rest = FileBytes() - first.bytes;
  ASSERT_EQ(store_->CheckNextFile(0)->number, first.number);
  Scrub scrub(*store_, clock_, kPeriod);
  ASSERT_TRUE(scrub.Step(kInterval).has_value());
  EXPECT_EQ(scrub.state().bytes, rest);
  EXPECT_EQ(scrub.state().rounds.successes, 1U);
  EXPECT_EQ(store_->GetNumber("scrub_place").value(), 0U);
}

}  // namespace
}  // namespace fieldcost::aggregator

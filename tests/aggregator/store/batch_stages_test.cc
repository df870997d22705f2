#include "aggregator/store/batch_stages.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "aggregator/store/database_sync_times.h"
#include "tests/aggregator/store/batches.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

using std::chrono::nanoseconds;

TEST(BatchStagesTest, EachMomentBelongsToOneStage) {
  const StageTimes::Clock::time_point begin;
  StageTimes times(begin);
  times.EndAt(BatchStage::kVerify, begin + nanoseconds(5));
  times.EndAt(BatchStage::kAnswer, begin + nanoseconds(12));
  times.EndAt(BatchStage::kLog, begin + nanoseconds(12));
  times.EndAt(BatchStage::kAnswer, begin + nanoseconds(15));
  EXPECT_EQ(times.of(BatchStage::kVerify), nanoseconds(5));
  EXPECT_EQ(times.of(BatchStage::kAnswer), nanoseconds(10));
  EXPECT_EQ(times.of(BatchStage::kLog), nanoseconds(0));
  EXPECT_EQ(times.of(BatchStage::kFold), std::nullopt);
}

TEST(BatchStagesTest, EachStageHasItsOwnName) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kBatchStages; ++i) names.insert(Name(static_cast<BatchStage>(i)));
  EXPECT_EQ(names.size(), kBatchStages);
  EXPECT_FALSE(names.contains(""));
  EXPECT_EQ(Name(BatchStage::kReceive), "receive");
  EXPECT_EQ(Name(BatchStage::kAnswer), "answer");
}

// The stages that Accept() ended.
std::set<std::string_view> Accepted(Store& store, const TestBatch& batch) {
  StageTimes times;
  AcceptedBatch view = batch.View();
  view.stages = &times;
  EXPECT_TRUE(store.Accept(view).has_value());
  std::set<std::string_view> ended;
  for (std::size_t i = 0; i < kBatchStages; ++i) {
    const auto stage = static_cast<BatchStage>(i);
    if (times.of(stage)) ended.insert(Name(stage));
  }
  return ended;
}

TEST(BatchStagesTest, AcceptTimesWhatItDoesWithABatch) {
  using Stages = std::set<std::string_view>;
  const testing::TempDir dir;
  std::atomic<int> syncs{0};
  std::atomic<int> negative{0};
  const auto store = Store::Open({.data_dir = dir.path() / "data",
                                  .checkpoint_seconds = 0,
                                  .probation_batches = 2,
                                  .file_system = WithLogSyncTimes([&](nanoseconds duration) {
                                    ++syncs;
                                    if (duration < nanoseconds(0)) ++negative;
                                  })})
                         .value();
  TestBatch batch;
  MakeTestBatch(1, 1, batch, nullptr);
  int before = syncs;
  EXPECT_EQ(Accepted(*store, batch), (Stages{"ledger", "log"})) << "it is held";
  EXPECT_EQ(syncs, before + 1);
  EXPECT_EQ(Accepted(*store, batch), (Stages{"ledger"})) << "it is a replay";
  EXPECT_EQ(syncs, before + 1);
  MakeTestBatch(1, 2, batch, nullptr);
  EXPECT_EQ(Accepted(*store, batch), (Stages{"ledger", "log", "fold"})) << "it ends the probation";
  EXPECT_EQ(syncs, before + 2);
  EXPECT_EQ(negative, 0);
}

}  // namespace
}  // namespace fieldcost::store

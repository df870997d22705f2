#include "agent/probe_recorder/run_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/probe/event_batch.h"
#include "tests/agent/probe/ring_bytes.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::probe {
namespace {

using ::testing::SizeIs;
using testing::SmallRings;

class RunBatchTest : public ::testing::Test {
 protected:
  RunBatchTest() {
    SmallRings().WriteTo(path_);
    file_ = RingFile::Open(path_).value();
    batch_.emplace(file_->facts(), PlanFacts{}, namer_);
  }

  void Add(shm::ProbeKind kind, std::uint64_t ticks, std::uint64_t number = 1) {
    RingHit hit{};
    hit.kind = kind;
    hit.event = {file_->facts().run, number};
    hit.ticks = ticks;
    hit.sequence = ++sequence_;
    batch_->Add(hit, *file_);
  }
  // The taken batch can be encoded and decoded.
  Batch Taken() {
    Batch batch = batch_->Take();
    batch.sequence = 1;
    const auto bytes = EncodeBatch(batch);
    EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
    EXPECT_EQ(DecodeBatch(*bytes).value(), batch);
    return batch;
  }

  const testing::TempDir directory_{testing::kMemory};
  const std::filesystem::path path_ = directory_.path() / "4711.probe";
  std::optional<RingFile> file_;
  StackNamer namer_;
  std::optional<RunBatch> batch_;
  std::uint64_t sequence_ = 0;
};

// Rings are read one after the other, and CPU clocks need not agree.
TEST_F(RunBatchTest, AnEndThatIsReadFirstIsNotBeforeItsBeginning) {
  Add(shm::kProbeEnd, 3000);
  Add(shm::kProbeBegin, 5000);
  const Batch batch = Taken();
  ASSERT_THAT(batch.events, SizeIs(1));
  EXPECT_NE(batch.events[0].begin_ns, 0U);
  EXPECT_EQ(batch.events[0].end_ns, batch.events[0].begin_ns);
  EXPECT_EQ(batch.events[0].label, "data loaded");
}

TEST_F(RunBatchTest, ABeginningThatIsReadFirstHasItsEndInOrderToo) {
  Add(shm::kProbeBegin, 5000);
  Add(shm::kProbeEnd, 3000);
  const Batch batch = Taken();
  EXPECT_EQ(batch.events[0].end_ns, batch.events[0].begin_ns);
}

// Later losses do not mark an event that is over; they mark an open one, in each batch.
TEST_F(RunBatchTest, RemembersOpenEventsBetweenBatches) {
  Add(shm::kProbeBegin, 1000, 1);
  Add(shm::kProbeBegin, 1000, 2);
  Add(shm::kProbeEnd, 1100, 2);
  Taken();
  batch_->MarkAllIncomplete();
  Batch batch = Taken();
  ASSERT_THAT(batch.events, SizeIs(1));
  EXPECT_EQ(batch.events[0].id.number, 1U);
  EXPECT_TRUE(batch.events[0].is_incomplete);
  Add(shm::kProbeEnd, 1200, 1);
  Taken();
  batch_->MarkAllIncomplete();
  EXPECT_TRUE(batch_->empty());
}

}  // namespace
}  // namespace fieldcost::probe

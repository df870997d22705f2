// One key is one agent: it belongs to one hardware class, counts once, and adds only to rows that
// it has contributed to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregator/store/store_row_codec.h"
#include "common/crypto/sip_hash.h"
#include "tests/aggregator/ingest/trust_fixture.h"

namespace fieldcost::ingest {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kWeek = kTrustWeek;

class OneAgentTest : public TrustTest {
 protected:
  static wire::BatchContent ContentOfClass(unsigned hardware, unsigned rows = 3) {
    wire::BatchContent content = TestContent(rows, kWeek);
    content.hardware.cpu_family = "invented-" + std::to_string(hardware);
    return content;
  }

  // Returns the contributions stored for an API, over all hardware classes.
  std::uint64_t AllContributions(const stats::ApiKey& api) {
    std::uint64_t sum = 0;
    const auto snapshot = store_->TakeSnapshot();
    EXPECT_TRUE(snapshot.has_value());
    EXPECT_TRUE(
        snapshot->ForEach([&](const stats::RowKey& key, const store::CompactRow& row) -> Status {
          if (key.api == api) sum += row.scalars.contributions;
          return {};
        }));
    return sum;
  }
};

TEST_F(OneAgentTest, AgentKeepsTheClassThatItNamedFirst) {
  EXPECT_EQ(MustSend(1, ContentOfClass(1)).accepted_rows, 3U);
  wire::BatchContent other = ContentOfClass(2);
  other.rows[1].api.symbol = "never_before";
  ::testing::internal::CaptureStderr();
  const wire::BatchAnswer answer = MustSend(2, other);
  EXPECT_EQ(answer.accepted_rows, 0U);
  ASSERT_EQ(answer.rejects.size(), 3U);
  EXPECT_THAT(answer.rejects[0].reason, HasSubstr("another hardware class"));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("kind=other_class"));
  EXPECT_EQ(ingest_->counters().rows_other_class, 3U);
  // This holds for the whole quarter: neither a restart nor withdrawing everything changes the
  // class.
  Open({});
  EXPECT_EQ(
      ingest_->Handle(WithdrawalRequest(key_, 1, *wire::EncodeBatch(ContentOfClass(1)), "")).body,
      R"({"withdrawn_rows":3})");
  EXPECT_EQ(MustSend(3, other).accepted_rows, 0U);
  EXPECT_EQ(MustSend(4, ContentOfClass(1)).accepted_rows, 3U);
  // Other agents are unaffected.
  EXPECT_EQ(Send(other_, 1, other).status, 200);
  EXPECT_EQ(Contributions(other, 1), 1U);
}

TEST_F(OneAgentTest, ABatchOfAnotherClassDoesNotEndAProbation) {
  Open({.probation_batches = 2});
  EXPECT_TRUE(MustSend(1, ContentOfClass(1)).held);
  EXPECT_TRUE(MustSend(2, ContentOfClass(2)).held) << "held batches bind it, too";
  EXPECT_EQ(ingest_->counters().rows_other_class, 3U);
  wire::BatchContent second = ContentOfClass(1, 4);
  for (std::size_t i = 0; i < 3; ++i) second.rows[i].first_contribution = false;
  EXPECT_FALSE(MustSend(3, second).held);
  EXPECT_EQ(ingest_->counters().released_batches, 2U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(Contributions(second, i), 1U);
}

TEST_F(OneAgentTest, CountsOnceForAllClassesWeeksAndEpochs) {
  const std::uint64_t now = EpochOfWeek(kWeek).value();
  unsigned hardware = 0;
  for (const std::uint64_t epoch : {now, now - 1, now + 1}) {
    SetTestEpoch(wire::Epoch(epoch));
    for (std::uint64_t sequence = 1; sequence <= 8; ++sequence) {
      wire::BatchContent content = ContentOfClass(hardware / 2);
      for (wire::BatchRow& row : content.rows) row.week = kWeek - hardware % 2;
      ++hardware;
      Send(sequence, content);
    }
  }
  EXPECT_EQ(ingest_->counters().accepted_rows, 3U);
  for (const wire::BatchRow& row : ContentOfClass(1).rows) EXPECT_EQ(AllContributions(row.api), 1U);
}

TEST_F(OneAgentTest, ItAddsOnlyToWhatItHasContributedTo) {
  wire::BatchContent more = TestContent(3, kWeek);
  for (wire::BatchRow& row : more.rows) row.first_contribution = false;
  const wire::BatchAnswer refused = MustSend(1, more);
  EXPECT_EQ(refused.accepted_rows, 0U);
  ASSERT_EQ(refused.rejects.size(), 3U);
  EXPECT_THAT(refused.rejects[0].reason, HasSubstr("has not contributed to"));
  EXPECT_EQ(ingest_->counters().rows_never_contributed, 3U);
  EXPECT_EQ(MustSend(2, TestContent(2, kWeek)).accepted_rows, 2U);
  EXPECT_EQ(MustSend(3, more).accepted_rows, 2U);
  // It may add in any week until the contribution is withdrawn.
  more.rows[1].week = kWeek - 1;
  EXPECT_EQ(MustSend(4, more).accepted_rows, 2U);
  ASSERT_EQ(
      ingest_->Handle(WithdrawalRequest(key_, 2, *wire::EncodeBatch(TestContent(2, kWeek)), ""))
          .status,
      200);
  EXPECT_EQ(MustSend(5, more).accepted_rows, 0U);
}

TEST_F(OneAgentTest, ItAddsToWhatIsHeld) {
  Open({.probation_batches = 2});
  EXPECT_TRUE(MustSend(1, TestContent(2, kWeek)).held);
  wire::BatchContent more = TestContent(2, kWeek);
  for (wire::BatchRow& row : more.rows) row.first_contribution = false;
  const wire::BatchAnswer answer = MustSend(2, more);
  EXPECT_EQ(answer.accepted_rows, 2U);
  EXPECT_FALSE(answer.held);
  EXPECT_EQ(Contributions(more, 0), 1U);
}

}  // namespace
}  // namespace fieldcost::ingest

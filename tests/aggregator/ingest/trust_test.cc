// Hostile agents: regardless of what they claim, they count once, and for no more than one machine
// can do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "aggregator/ingest/ingest_limits.h"
#include "tests/aggregator/ingest/trust_fixture.h"

namespace fieldcost::ingest {
namespace {

using stats::Metric;
using ::testing::HasSubstr;

constexpr std::uint32_t kWeek = kTrustWeek;

struct Claim {
  const char* name;
  wire::BatchRow row;
  bool is_plausible;
};

TEST_F(TrustTest, MoreThanAMachineCanDoInAWeekIsNotBelieved) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  constexpr std::uint64_t kDayNs = 86'400 * kSecondNs;
  constexpr std::uint64_t kThreads = 8 * kMaxThreadsPerCore;  // TestContent's class has 4 cores
  const std::vector<Claim> claims = {
      {"every thread waits all week",
       RowOf(0, Metric::kWallTime, kSecondNs, kThreads * kWeekSeconds), true},
      {"and one more", RowOf(0, Metric::kWallTime, kSecondNs, kThreads * kWeekSeconds + 1), false},
      {"a call of fifty days", RowOf(0, Metric::kWallTime, 50 * kDayNs, 1), true},
      {"a call of sixty days", RowOf(0, Metric::kWallTime, 60 * kDayNs, 1), false},
      {"ticks of a busy machine", RowOf(0, Metric::kCpuCycles, kDayNs, 20), true},
      {"ticks of many machines", RowOf(0, Metric::kCpuCycles, kDayNs, 100 * kThreads), false},
      {"a first call in each of many runs", RowOf(0, Metric::kFirstCallTime, 1000, 1 << 20), true},
      {"more runs than can start", RowOf(0, Metric::kFirstCallTime, 10, std::uint64_t{1} << 39),
       false},
      {"a billion calls per run", RowOf(0, Metric::kCallsPerRun, 1'000'000'000, 1000), true},
      {"more calls than there are cycles",
       RowOf(0, Metric::kCallsPerRun, 1'000'000'000'000, 100'000), false},
      {"large allocations", RowOf(0, Metric::kAllocSize, std::uint64_t{1} << 40, 1000), true},
      {"bytes read from the page cache", RowOf(0, Metric::kDiskRead, 1 << 20, 1 << 30), true},
      {"bytes of a data centre", RowOf(0, Metric::kNetSent, std::uint64_t{1} << 42, 1 << 20),
       false},
      {"allocations beyond any memory",
       RowOf(0, Metric::kAllocInclusive, std::uint64_t{1} << 45, 1 << 24), false},
  };
  std::uint64_t sequence = 0;
  std::uint64_t refused = 0;
  for (const Claim& claim : claims) {
    SCOPED_TRACE(claim.name);
    wire::BatchContent content = TestContent(1, kWeek);
    content.rows.push_back(claim.row);
    content.rows[1].api.symbol = "claim_" + std::to_string(++sequence);
    content.rows[0].first_contribution = sequence == 1;
    content.rows[0].metric = Metric::kAllocExclusive;  // a metric that no claim uses
    const wire::BatchAnswer answer = MustSend(sequence, content);
    EXPECT_EQ(answer.accepted_rows, claim.is_plausible ? 2U : 1U);
    refused += claim.is_plausible ? 0 : 1;
    if (!claim.is_plausible) {
      ASSERT_EQ(answer.rejects.size(), 1U);
      EXPECT_EQ(answer.rejects[0].row, 1U);
      EXPECT_THAT(answer.rejects[0].reason,
                  ::testing::AnyOf(HasSubstr("can do"), HasSubstr("row's limit")));
    }
    EXPECT_EQ(ingest_->counters().rows_implausible, refused);
  }
}

TEST_F(TrustTest, LimitsTheTimeOfAllRowsTogether) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  wire::BatchContent content = TestContent(0, kWeek);
  for (unsigned number = 0; number < 10; ++number) {
    content.rows.push_back(
        RowOf(number, Metric::kWallTime, kSecondNs, kWeekSeconds * kMaxThreadsPerCore));
  }
  content.rows.push_back(RowOf(10, Metric::kFirstCallTime, 7, 7));
  content.rows.push_back(
      RowOf(11, Metric::kWallTime, kSecondNs, kWeekSeconds * kMaxThreadsPerCore));
  content.rows.back().week = kWeek - 1;
  const wire::BatchAnswer answer = MustSend(1, content);
  EXPECT_EQ(answer.accepted_rows, 10U) << "eight fit; other metrics and weeks are apart";
  ASSERT_EQ(answer.rejects.size(), 2U);
  EXPECT_EQ(answer.rejects[0].row, 8U);
  EXPECT_EQ(answer.rejects[1].row, 9U);
}

TEST_F(TrustTest, OnlyWantedModulesAreTaken) {
  Open({}, {.modules = {"libz.so.*", "libsample.so.1"}});
  wire::BatchContent content = TestContent(4, kWeek);
  content.rows[0].api.soname = "libz.so.1";
  content.rows[1].api.soname = "libz.so";
  content.rows[2].api.soname = "xlibsample.so.1";
  const wire::BatchAnswer answer = MustSend(1, content);
  EXPECT_EQ(answer.accepted_rows, 2U);
  ASSERT_EQ(answer.rejects.size(), 2U);
  EXPECT_EQ(answer.rejects[0].row, 1U);
  EXPECT_EQ(answer.rejects[1].row, 2U);
  EXPECT_THAT(answer.rejects[0].reason, HasSubstr("does not collect costs of this module"));
  EXPECT_EQ(ingest_->counters().rows_unlisted_module, 2U);
}

// Agents keep batches that are not accepted: nothing is lost once the clock is right again.
TEST_F(TrustTest, AsksAgentsToRetryWhenCurrentWeeksWereDeleted) {
  const wire::BatchContent content = TestContent(1, kWeek);
  EXPECT_EQ(ingest_->WhyNothingIsAccepted(), "");
  ASSERT_TRUE(store_->Expire(kWeek, wire::Epoch(0)).has_value());
  EXPECT_EQ(ingest_->WhyNothingIsAccepted(), "");
  ASSERT_TRUE(store_->Expire(kWeek + 32, wire::Epoch((kWeek + 32) / 13 - 1)).has_value());
  EXPECT_THAT(ingest_->WhyNothingIsAccepted(),
              HasSubstr("before week " + std::to_string(kWeek + 32) + " ("));
  SetTestEpoch(EpochOfWeek(kWeek));
  const http::Response response = Send(1, content);
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(http::Find(response.headers, "Retry-After"), "");
  EXPECT_THAT(response.body, HasSubstr("clock or its bounds are wrong"));
  EXPECT_EQ(ingest_->Handle(EnrolmentRequest(key_, "")).status, 503);
  EXPECT_EQ(ingest_->counters().wrong_clock, 2U);
  EXPECT_EQ(ingest_->counters().bad_epoch, 0U);
  clock_.Advance(std::chrono::weeks(32));
  EXPECT_EQ(ingest_->WhyNothingIsAccepted(), "");
}

TEST_F(TrustTest, ABatchOfAnotherTimesEpochIsRefused) {
  const wire::BatchContent content = TestContent(1, kWeek);
  const std::uint64_t now = EpochOfWeek(kWeek).value();
  for (const std::uint64_t epoch :
       {std::uint64_t{0}, now - 2, now + 1, now + 2, ~std::uint64_t{0}}) {
    SetTestEpoch(wire::Epoch(epoch));
    const http::Response response = Send(1, content);
    EXPECT_EQ(response.status, 400) << epoch;
    EXPECT_THAT(response.body, HasSubstr("is not accepted now"));
    EXPECT_EQ(ingest_->Handle(EnrolmentRequest(key_, "")).status, 400);
    const http::Response withdrawal =
        ingest_->Handle(WithdrawalRequest(key_, 1, *wire::EncodeBatch(content), ""));
    EXPECT_EQ(withdrawal.status, 200) << "it can be asked, and leaves nothing";
    EXPECT_EQ(ingest_->counters().withdrawn_before_arrival, 0U);
  }
  EXPECT_EQ(ingest_->counters().bad_epoch, 10U);
  for (const std::uint64_t epoch : {now - 1, now, now + 1}) {
    // The next quarter's epoch is accepted one day ahead, for clocks that are ahead.
    if (epoch == now + 1) clock_.Advance(std::chrono::weeks(3) + std::chrono::days(3));
    SetTestEpoch(wire::Epoch(epoch));
    const auto key = crypto::PrivateKey::FromSeed(std::string(32, static_cast<char>(epoch % 100)));
    EXPECT_EQ(Send(key, 1, content).status, 200) << epoch;
  }
  ASSERT_TRUE(store_->Expire(0, wire::Epoch(now)).has_value());
  SetTestEpoch(wire::Epoch(now - 1));
  EXPECT_EQ(Send(2, content).status, 400) << "expired";
}

TEST_F(TrustTest, RowsOfExpiredWeeksAreRefused) {
  ASSERT_TRUE(store_->Expire(kWeek, wire::Epoch(0)).has_value());
  wire::BatchContent content = TestContent(2, kWeek);
  content.rows[1].week = kWeek - 1;
  const wire::BatchAnswer answer = MustSend(1, content);
  EXPECT_EQ(answer.accepted_rows, 1U);
  EXPECT_THAT(answer.rejects.at(0).reason, HasSubstr("has expired"));
  EXPECT_EQ(ingest_->counters().rows_wrong_week, 1U);
}

TEST_F(TrustTest, KeyBelongsToOneEpoch) {
  // Around the turn of a quarter, batches of both epochs are accepted, each with rows of its own
  // weeks.
  constexpr std::uint32_t kFirstOfQuarter = (kWeek / 13 + 1) * 13;
  clock_.Advance(std::chrono::weeks(kFirstOfQuarter - kWeek));
  const std::uint64_t epoch = EpochOfWeek(kFirstOfQuarter).value();
  SetTestEpoch(wire::Epoch(epoch - 1));
  wire::BatchContent content = TestContent(2, kFirstOfQuarter - 1);
  content.rows[1].week = kFirstOfQuarter;
  const wire::BatchAnswer answer = MustSend(1, content);
  EXPECT_EQ(answer.accepted_rows, 1U);
  EXPECT_THAT(answer.rejects.at(0).reason, HasSubstr("not of epoch"));
  SetTestEpoch(wire::Epoch(epoch));
  ::testing::internal::CaptureStderr();
  const http::Response refused = Send(1, TestContent(1, kFirstOfQuarter));
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("a key belongs to one epoch"));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("kind=wrong_epoch"));
  EXPECT_EQ(ingest_->counters().bad_epoch, 1U);
  // A replay gets its original response; another key enrols in the new epoch.
  EXPECT_EQ(Send(other_, 1, TestContent(1, kFirstOfQuarter)).status, 200);
  SetTestEpoch(wire::Epoch(epoch - 1));
  EXPECT_EQ(MustSend(1, content).accepted_rows, 1U);
}

TEST_F(TrustTest, AnAgentContributesOnceForAllWeeks) {
  // Names every week from kWeeksBack before to kWeeksAhead after this one, in one batch and in
  // separate batches.
  wire::BatchContent content = TestContent(1, kWeek);
  for (std::uint32_t week = kWeek - kWeeksBack; week <= kWeek + kWeeksAhead; ++week) {
    if (week == kWeek) continue;
    content.rows.push_back(TestRow(0, week));
  }
  EXPECT_EQ(MustSend(1, content).accepted_rows, 1U);
  EXPECT_EQ(ingest_->counters().rows_contributed_before, kWeeksBeforeFirstBatch);
  EXPECT_EQ(ingest_->counters().rows_wrong_week, kWeeksBack - kWeeksBeforeFirstBatch + kWeeksAhead);
  for (std::size_t i = 0; i < content.rows.size(); ++i) {
    wire::BatchContent one = content;
    one.rows = {content.rows[i]};
    EXPECT_EQ(MustSend(2 + i, one).accepted_rows, 0U);
  }
  clock_.Advance(std::chrono::weeks(1));
  EXPECT_EQ(MustSend(20, TestContent(1, kWeek + 1)).accepted_rows, 0U);
  // The agent may add, in all weeks, to rows it contributed to.
  content.rows.assign(2, TestRow(0, kWeek));
  content.rows[1].week = kWeek + 1;
  for (wire::BatchRow& row : content.rows) row.first_contribution = false;
  EXPECT_EQ(MustSend(21, content).accepted_rows, 2U);
  EXPECT_EQ(Contributions(content, 0), 1U);
  EXPECT_EQ(Contributions(content, 1), 0U);
  EXPECT_EQ(Stored(content, 1).histogram, content.rows[1].histogram);
}

TEST_F(TrustTest, AnAgentContributesToARowOnce) {
  const wire::BatchContent content = TestContent(3, kWeek);
  EXPECT_EQ(MustSend(1, content).accepted_rows, 3U);
  wire::BatchContent more = TestContent(4, kWeek);
  more.rows[1].first_contribution = false;
  const wire::BatchAnswer answer = MustSend(2, more);
  EXPECT_EQ(answer.accepted_rows, 2U) << "one that claims nothing, and one that is new";
  ASSERT_EQ(answer.rejects.size(), 2U);
  EXPECT_THAT(answer.rejects[0].reason, HasSubstr("contributed before"));
  EXPECT_EQ(ingest_->counters().rows_contributed_before, 2U);
  for (std::size_t row = 0; row < 4; ++row) EXPECT_EQ(Contributions(more, row), 1U);
  // Another agent's batch is another contribution; another week or a restart changes nothing.
  Open({});
  EXPECT_EQ(Send(other_, 1, content).status, 200);
  EXPECT_EQ(Contributions(content, 0), 2U);
  EXPECT_EQ(MustSend(3, content).accepted_rows, 0U);
  EXPECT_EQ(MustSend(4, TestContent(3, kWeek - 1)).accepted_rows, 0U);
  // A replay gets the original response.
  EXPECT_EQ(MustSend(1, content).accepted_rows, 3U);
}

TEST_F(TrustTest, MayContributeAgainAfterAWithdrawal) {
  const wire::BatchContent content = TestContent(2, kWeek);
  const wire::BatchAnswer first = MustSend(1, content);
  EXPECT_EQ(ingest_->Handle(WithdrawalRequest(key_, 1, *wire::EncodeBatch(content), first.receipt))
                .status,
            200);
  EXPECT_EQ(MustSend(2, content).accepted_rows, 2U);
  EXPECT_EQ(Contributions(content, 0), 1U);
}

TEST_F(TrustTest, ManyBatchesAtOnceContributeOnceAltogether) {
  const wire::BatchContent content = TestContent(20, kWeek);
  std::vector<std::thread> threads;
  for (std::uint64_t sequence = 1; sequence <= 8; ++sequence) {
    threads.emplace_back([this, &content, sequence] { Send(sequence, content); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ingest_->counters().accepted_rows, 20U);
  EXPECT_EQ(ingest_->counters().rows_contributed_before, 140U);
  for (std::size_t row = 0; row < 20; ++row) EXPECT_EQ(Contributions(content, row), 1U);
}

TEST_F(TrustTest, ANewAgentContributesToFewerRowsThanAnOldOne) {
  std::uint64_t sequence = 0;
  const auto contributed = [&](std::size_t rows) {
    store::WeekContributions before{.week = kWeek};
    for (std::size_t i = 0; i < rows; ++i) before.hashes.push_back((sequence << 32) + i);
    store::AcceptedRows none;
    ASSERT_TRUE(store_
                    ->Accept({.agent_id = ingest_->IdOf(key_.public_key()),
                              .epoch = TestEpoch(),
                              .sequence = wire::Sequence(++sequence),
                              .rows = &none,
                              .contributions = std::span(&before, 1)})
                    .has_value());
  };
  MustSend(++sequence, TestContent(1, kWeek));
  contributed(kMaxContributionsPerWeekOfHistory - 3);
  wire::BatchContent content = TestContent(4, kWeek);
  content.rows[3].week = kWeek - 1;
  content.rows.erase(content.rows.begin());
  content.rows.push_back(TestRow(9, kWeek));
  EXPECT_EQ(MustSend(++sequence, content).accepted_rows, 2U);
  EXPECT_EQ(ingest_->counters().rows_over_contribution_limit, 2U);
  // The limit allows as many again in the next week, and none once the overall limit is reached.
  clock_.Advance(std::chrono::weeks(1));
  EXPECT_EQ(MustSend(++sequence, TestContent(5, kWeek)).accepted_rows, 2U);
  contributed(kMaxContributions);
  EXPECT_EQ(MustSend(++sequence, TestContent(7, kWeek)).accepted_rows, 0U);
}

TEST_F(TrustTest, ALargeRowTakesOnlyAShareOfTheRoomThatIsLeft) {
  // Leave only 2^45 of the range for calls.
  wire::BatchContent content = TestContent(0, kWeek);
  content.rows = {RowOf(0, stats::Metric::kWallTime, 1, kCallsRoom - (std::uint64_t{1} << 45))};
  const stats::RowKey key{content.rows[0].api, content.rows[0].metric, content.hardware, kWeek};
  store::AcceptedRows rows;
  rows.Add(key, content.rows[0].histogram, store::Contribution::kNone);
  ASSERT_TRUE(store_
                  ->Accept({.agent_id = std::string(store::kAgentIdBytes, 'x'),
                            .epoch = TestEpoch(),
                            .sequence = wire::Sequence(1),
                            .rows = &rows})
                  .has_value());
  std::uint64_t sequence = 0;
  const auto send = [&](std::uint64_t calls) {
    content.rows = {RowOf(0, stats::Metric::kWallTime, 1, calls)};
    content.rows[0].histogram.SetUntimed(calls - (calls >> 14));
    content.rows[0].first_contribution = true;
    return MustSend(++sequence, content).accepted_rows;
  };
  EXPECT_EQ(send((std::uint64_t{1} << 24) + (1 << 14)), 0U);
  EXPECT_EQ(ingest_->counters().rows_without_room, 1U);
  EXPECT_EQ(ingest_->counters().rows_implausible, 0U) << "it may be honest";
  EXPECT_EQ(send(std::uint64_t{1} << 24), 1U) << "refused rows contribute nothing";
}

TEST(SumsFitTest, NoNumberOfRowsFillsAStoredOne) {
  // Each row takes as much as it is allowed to. In the end, as many rows of that size are added as
  // may be accepted but not stored yet.
  stats::Bucket stored;
  stats::Bucket row;
  for (int i = 0; i < 40'000'000; ++i) {
    row.count = stats::Low64((stats::Uint128{kCallsRoom} - stored.count) >> kRoomShareBits);
    row.sum_of_squares = (kSquaresRoom - stored.sum_of_squares) >> kRoomShareBits;
    if (!IsLarge(row)) break;
    ASSERT_TRUE(SumsFit(row, stored));
    if (i % 65'536 == 0) {
      stats::Bucket larger = row;
      larger.sum_of_squares += 1;
      ASSERT_EQ(SumsFit(larger, stored), larger.sum_of_squares <= kSmallRowSquares);
    }
    stored.count += row.count;
    stored.sum_of_squares += row.sum_of_squares;
  }
  const std::uint64_t not_stored_yet = (std::uint64_t{1} << 18) + kAgentStripes;
  EXPECT_LT(stats::Uint128{stored.count} + stats::Uint128{row.count} * not_stored_yet,
            stats::Uint128{1} << 63);
  EXPECT_LT(stored.sum_of_squares, stats::Uint128{1} << 126);
}

TEST_F(TrustTest, TheStoreDoesNotTellWhatAnAgentContributedTo) {
  MustSend(1, TestContent(1, kWeek));
  ASSERT_EQ(Send(other_, 1, TestContent(1, kWeek)).status, 200);
  std::vector<std::uint64_t> mine;
  std::vector<std::uint64_t> others;
  ASSERT_TRUE(store_->GetContributions(ingest_->IdOf(key_.public_key()), TestEpoch(), mine));
  ASSERT_TRUE(store_->GetContributions(ingest_->IdOf(other_.public_key()), TestEpoch(), others));
  ASSERT_EQ(mine.size(), 1U);
  ASSERT_EQ(others.size(), 1U);
  EXPECT_NE(mine, others) << "the same row";
}

}  // namespace
}  // namespace fieldcost::ingest

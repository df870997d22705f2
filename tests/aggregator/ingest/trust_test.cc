// Hostile agents: whatever they claim, they count once, and for no more than one machine can do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "aggregator/ingest/limits.h"
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
  constexpr std::uint64_t kThreads = 8 * kMaxThreadsPerCore;  // of TestContent's class of 4 cores
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
      {"a billion calls a run", RowOf(0, Metric::kCallsPerRun, 1'000'000'000, 1000), true},
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
    content.rows[0].metric = Metric::kAllocExclusive;  // no claim's
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

TEST_F(TrustTest, WhatIsTooMuchForOneRowIsTooMuchForManyToo) {
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

// Agents keep what is not taken: nothing is lost once the clock is right again.
TEST_F(TrustTest, WhenAllOfNowIsDeletedAsTooOldAgentsAreToldToComeAgain) {
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
    // The coming quarter's a week ahead, for clocks that are.
    if (epoch == now + 1) clock_.Advance(std::chrono::weeks(3));
    SetTestEpoch(wire::Epoch(epoch));
    EXPECT_EQ(Send(1, content).status, 200) << epoch;
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

TEST_F(TrustTest, AnAgentContributesToARowOnceInWhicheverEpoch) {
  const wire::BatchContent content = TestContent(2, kWeek);
  const std::uint64_t now = EpochOfWeek(kWeek).value();
  clock_.Advance(std::chrono::weeks(3));  // the quarter's last week: the next one's keys are taken
  ASSERT_EQ(EpochOfWeek(WeekOf(clock_.Now()) + 1).value(), now + 1);
  for (const std::uint64_t epoch : {now, now - 1, now + 1}) {
    SetTestEpoch(wire::Epoch(epoch));
    EXPECT_EQ(MustSend(1, content).accepted_rows, epoch == now ? 2U : 0U) << epoch;
    EXPECT_EQ(Contributions(content, 0), 1U);
  }
  EXPECT_EQ(ingest_->counters().rows_contributed_before, 4U);
  // One that is withdrawn may be made again, in another epoch as well.
  SetTestEpoch(wire::Epoch(now));
  EXPECT_EQ(ingest_->Handle(WithdrawalRequest(key_, 1, *wire::EncodeBatch(content), "")).status,
            200);
  SetTestEpoch(wire::Epoch(now + 1));
  EXPECT_EQ(MustSend(2, content).accepted_rows, 2U);
  EXPECT_EQ(Contributions(content, 0), 1U);
}

TEST_F(TrustTest, NeitherDoesTheTurnOfAQuarterLetItContributeAgain) {
  // The first week of a quarter, told under keys of two quarters before and of its own.
  constexpr std::uint32_t kFirstOfQuarter = (kWeek / 13 + 1) * 13;
  wire::BatchContent content = TestContent(1, kFirstOfQuarter);
  const std::uint64_t epoch = EpochOfWeek(kFirstOfQuarter).value();
  clock_.Advance(std::chrono::weeks(kFirstOfQuarter - 1 - kWeek));
  SetTestEpoch(wire::Epoch(epoch - 2));
  EXPECT_EQ(MustSend(1, content).accepted_rows, 1U);
  clock_.Advance(std::chrono::weeks(1));
  for (const std::uint64_t later : {epoch - 1, epoch}) {
    SetTestEpoch(wire::Epoch(later));
    EXPECT_EQ(MustSend(1, content).accepted_rows, 0U) << later;
  }
  EXPECT_EQ(Contributions(content, 0), 1U);
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
  // Another agent or week is another contribution; a restart changes nothing.
  Open({});
  EXPECT_EQ(Send(other_, 1, content).status, 200);
  EXPECT_EQ(Contributions(content, 0), 2U);
  EXPECT_EQ(MustSend(3, content).accepted_rows, 0U);
  EXPECT_EQ(MustSend(4, TestContent(3, kWeek - 1)).accepted_rows, 3U);
  // A replay is told what it was told.
  EXPECT_EQ(MustSend(1, content).accepted_rows, 3U);
}

TEST_F(TrustTest, WhoTakesABatchAwayMayContributeAgain) {
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

TEST_F(TrustTest, AnAgentContributesToSoManyRowsAWeekAtMost) {
  store::WeekContributions before{.week = kWeek};
  for (std::size_t i = 0; i < kMaxContributionsPerWeek - 2; ++i) before.hashes.push_back(i);
  store::AcceptedRows none;
  ASSERT_TRUE(store_
                  ->Accept({.agent_id = ingest_->IdOf(key_.public_key()),
                            .epoch = TestEpoch(),
                            .sequence = wire::Sequence(1),
                            .rows = &none,
                            .contributions = std::span(&before, 1)})
                  .has_value());
  wire::BatchContent content = TestContent(5, kWeek);
  content.rows[4].week = kWeek - 1;
  const wire::BatchAnswer answer = MustSend(2, content);
  EXPECT_EQ(answer.accepted_rows, 3U) << "two of this week, one of another";
  EXPECT_EQ(ingest_->counters().rows_over_contribution_limit, 2U);
}

TEST_F(TrustTest, TheStoreDoesNotTellWhatAnAgentContributedTo) {
  MustSend(1, TestContent(1, kWeek));
  ASSERT_EQ(Send(other_, 1, TestContent(1, kWeek)).status, 200);
  std::vector<std::uint64_t> mine;
  std::vector<std::uint64_t> others;
  ASSERT_TRUE(store_->GetContributions(ingest_->IdOf(key_.public_key()), TestEpoch(), kWeek, mine));
  ASSERT_TRUE(
      store_->GetContributions(ingest_->IdOf(other_.public_key()), TestEpoch(), kWeek, others));
  ASSERT_EQ(mine.size(), 1U);
  ASSERT_EQ(others.size(), 1U);
  EXPECT_NE(mine, others) << "the same row";
}

}  // namespace
}  // namespace fieldcost::ingest

// Hostile agents: whatever they claim, they count once, and for no more than one machine can do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <thread>

#include "aggregator/ingest/ingest.h"
#include "aggregator/ingest/limits.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "tests/aggregator/ingest/sender.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::ingest {
namespace {

using stats::Metric;
using ::testing::HasSubstr;

constexpr std::uint32_t kWeek = 2960;

class TrustTest : public ::testing::Test {
 protected:
  TrustTest() {
    SetTestEpoch(EpochOfWeek(kWeek));
    Open({.checkpoint_seconds = 0});
  }

  void Open(store::StoreOptions options, IngestOptions ingest_options = {}) {
    ingest_.reset();
    store_.reset();
    options.data_dir = dir_.path() / "data";
    options.checkpoint_seconds = 0;
    auto store = store::Store::Open(options);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    store_ = std::move(*store);
    ingest_ = std::make_unique<Ingest>(
        *store_, clock_, *Pseudonyms::LoadOrCreate(dir_.path() / "pseudonyms"),
        *Receipts::LoadOrCreate(dir_.path() / "receipts"),
        std::move(*Admission::Load(EnrolmentMode::kOpen, {}, *store_)), std::move(ingest_options));
  }

  http::Response Send(const crypto::PrivateKey& key, std::uint64_t sequence,
                      const wire::BatchContent& content) {
    return ingest_->Handle(SignedRequest(key, sequence, content));
  }
  http::Response Send(std::uint64_t sequence, const wire::BatchContent& content) {
    return Send(key_, sequence, content);
  }
  wire::BatchAnswer MustSend(std::uint64_t sequence, const wire::BatchContent& content) {
    const http::Response response = Send(sequence, content);
    EXPECT_EQ(response.status, 200) << response.body;
    return wire::DecodeAnswer(response.body).value_or(wire::BatchAnswer());
  }

  stats::StatRow Stored(const wire::BatchContent& content, std::size_t row) {
    const wire::BatchRow& sent = content.rows[row];
    return store_->Get({sent.api, sent.metric, content.hardware, sent.week})
        ->value_or(stats::StatRow());
  }
  std::uint64_t Contributions(const wire::BatchContent& content, std::size_t row) {
    return Stored(content, row).scalars.contributions;
  }

  const testing::TempDir dir_;
  testing::FakeClock clock_{WallTime(std::chrono::days(7 * kWeek + 3))};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Ingest> ingest_;
  const crypto::PrivateKey key_ = crypto::PrivateKey::FromSeed(std::string(32, 'k'));
  const crypto::PrivateKey other_ = crypto::PrivateKey::FromSeed(std::string(32, 'o'));
};

// A row with one bucket of `count` values of `value` each, or as near as 128 bits come.
wire::BatchRow RowOf(unsigned number, Metric metric, std::uint64_t value, std::uint64_t count) {
  wire::BatchRow row = TestRow(number, kWeek);
  row.metric = metric;
  row.histogram = {};
  stats::CostHistogram one;
  one.Add(value);
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const stats::Bucket& bucket = one.bucket(slot);
    if (bucket.count == 0) continue;
    row.histogram.SetBucket(slot, {.count = count,
                                   .sum = bucket.sum * count,
                                   .sum_of_squares = bucket.sum_of_squares * count});
  }
  return row;
}

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
    content.rows[0].first_contribution = false;
    content.rows[0].metric = Metric::kAllocExclusive;  // no claim's
    const wire::BatchAnswer answer = MustSend(sequence, content);
    EXPECT_EQ(answer.accepted_rows, claim.is_plausible ? 2U : 1U);
    refused += claim.is_plausible ? 0 : 1;
    if (!claim.is_plausible) {
      ASSERT_EQ(answer.rejects.size(), 1U);
      EXPECT_EQ(answer.rejects[0].row, 1U);
      EXPECT_THAT(answer.rejects[0].reason,
                  ::testing::AnyOf(HasSubstr("can do"), HasSubstr("beyond")));
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
  EXPECT_THAT(answer.rejects[0].reason, HasSubstr("does not collect about this module"));
  EXPECT_EQ(ingest_->counters().rows_unlisted_module, 2U);
}

TEST_F(TrustTest, ABatchOfAnotherTimesEpochIsRefused) {
  const wire::BatchContent content = TestContent(1, kWeek);
  const std::uint64_t now = EpochOfWeek(kWeek).value();
  for (const std::uint64_t epoch : {std::uint64_t{0}, now - 2, now + 2, ~std::uint64_t{0}}) {
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
  EXPECT_EQ(ingest_->counters().bad_epoch, 8U);
  for (const std::uint64_t epoch : {now - 1, now, now + 1}) {
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
  // Another agent, hardware class or week is another contribution; a restart changes nothing.
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

TEST_F(TrustTest, NewAgentsCountOnceTheyHaveBeenHonestOftenEnough) {
  Open({.probation_batches = 2});
  const auto content = [](unsigned number) {
    wire::BatchContent made = TestContent(1, kWeek);
    made.rows[0].api.symbol = "part_" + std::to_string(number);
    return made;
  };
  wire::BatchContent dishonest = content(1);
  dishonest.rows.push_back(RowOf(9, Metric::kWallTime, std::uint64_t{1} << 52, 1));
  const http::Response first = Send(1, dishonest);
  EXPECT_THAT(first.body, HasSubstr(R"("held":true)"));
  EXPECT_TRUE(MustSend(2, content(2)).held);
  EXPECT_EQ(Contributions(content(1), 0), 0U);
  EXPECT_EQ(ingest_->counters().held_batches, 2U);
  wire::BatchContent stranger = content(3);
  stranger.rows[0].metric = static_cast<Metric>(77);
  EXPECT_TRUE(MustSend(3, stranger).held) << "nothing in it is taken";
  const wire::BatchAnswer enough = MustSend(4, content(4));
  EXPECT_FALSE(enough.held);
  EXPECT_EQ(ingest_->counters().released_batches, 3U);
  for (const unsigned number : {1U, 2U, 4U}) EXPECT_EQ(Contributions(content(number), 0), 1U);
  EXPECT_EQ(Send(1, dishonest).body, first.body) << "a replay is told what it was told";
}

TEST_F(TrustTest, AHeldBatchIsWithdrawnWithItsReceipt) {
  Open({.probation_batches = 2});
  const wire::BatchContent content = TestContent(2, kWeek);
  const std::string receipt = MustSend(1, content).receipt;
  const http::Request withdrawal = WithdrawalRequest(key_, 1, *wire::EncodeBatch(content), receipt);
  const http::Response response = ingest_->Handle(withdrawal);
  EXPECT_EQ(response.body, R"({"withdrawn_rows":2})");
  EXPECT_EQ(ingest_->Handle(withdrawal).body, response.body);
  EXPECT_EQ(store_->Gauges().held_batches, 0U);
  EXPECT_EQ(MustSend(2, content).accepted_rows, 2U) << "it may contribute again";
  EXPECT_EQ(Contributions(content, 0), 1U);
}

TEST_F(TrustTest, WithoutRoomANewAgentIsToldToComeBack) {
  Open({.probation_batches = 2, .held_bytes = 10});
  const http::Response response = Send(1, TestContent(1, kWeek));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(http::Find(response.headers, "Retry-After"), std::to_string(kRetryAfterSeconds));
  EXPECT_EQ(ingest_->counters().no_room_to_hold, 1U);
  EXPECT_TRUE(store_->healthy());
}

TEST_F(TrustTest, WhoSendsTooOftenWaitsForTheNextHour) {
  Open({}, {.batches_per_agent_per_hour = 2});
  clock_.Advance(std::chrono::minutes(50));
  EXPECT_EQ(Send(1, TestContent(1, kWeek)).status, 200);
  EXPECT_EQ(Send(2, TestContent(1, kWeek)).status, 200);
  const http::Response refused = Send(3, TestContent(1, kWeek));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(http::Find(refused.headers, "Retry-After"), "600");
  EXPECT_EQ(ingest_->counters().too_many_batches, 1U);
  EXPECT_EQ(Send(other_, 1, TestContent(1, kWeek)).status, 200);
  clock_.Advance(std::chrono::minutes(10));
  EXPECT_EQ(Send(3, TestContent(1, kWeek)).status, 200);
}

TEST_F(TrustTest, ARevokedAgentIsTurnedAwayAtOnceAndForEver) {
  Open({.probation_batches = 3});
  EXPECT_TRUE(MustSend(1, TestContent(1, kWeek)).held);
  ASSERT_TRUE(ingest_->Revoke(key_.public_key()).has_value());
  EXPECT_EQ(store_->Gauges().held_batches, 0U);
  EXPECT_EQ(Send(2, TestContent(1, kWeek)).status, 403);
  Open({.probation_batches = 3});
  EXPECT_EQ(Send(2, TestContent(1, kWeek)).status, 403);
}

TEST_F(TrustTest, TokensAreReadAgainWhileItRuns) {
  const std::filesystem::path file = dir_.path() / "token";
  ASSERT_TRUE(WriteFileAtomically(file, "first\n", 0600).has_value());
  ingest_ = std::make_unique<Ingest>(
      *store_, clock_, *Pseudonyms::LoadOrCreate(dir_.path() / "pseudonyms"),
      *Receipts::LoadOrCreate(dir_.path() / "receipts"),
      std::move(*Admission::Load(EnrolmentMode::kToken, {file}, *store_)));
  EXPECT_EQ(ingest_->Handle(EnrolmentRequest(key_, "second")).status, 403);
  ASSERT_TRUE(WriteFileAtomically(file, "second\n", 0600).has_value());
  ASSERT_TRUE(ingest_->ReloadTokens().has_value());
  EXPECT_EQ(ingest_->Handle(EnrolmentRequest(key_, "second")).status, 200);
  EXPECT_EQ(ingest_->Handle(EnrolmentRequest(key_, "first")).status, 403);
  ASSERT_TRUE(WriteFileAtomically(file, "", 0600).has_value());
  EXPECT_FALSE(ingest_->ReloadTokens().has_value());
  EXPECT_EQ(ingest_->Handle(EnrolmentRequest(other_, "second")).status, 200)
      << "a damaged file changes nothing";
}

// Names of agents in a log, as they come.
std::vector<std::string> AgentsIn(const std::string& log) {
  std::vector<std::string> agents;
  for (std::size_t at = 0; (at = log.find("agent=", at)) != std::string::npos; ++at) {
    agents.push_back(log.substr(at + 6, 16));
  }
  return agents;
}

TEST_F(TrustTest, TheAbuseLogNamesAnAgentForADayAndNotTooOften) {
  AbuseLog log;
  const std::string id = ingest_->IdOf(key_.public_key());
  WallTime now = clock_.Now();
  ::testing::internal::CaptureStderr();
  for (int i = 0; i < 5; ++i) log.Note(Abuse::kOtherBody, id, now);
  log.Note(Abuse::kImplausibleRows, id, now);
  now += std::chrono::hours(1);
  log.Note(Abuse::kOtherBody, id, now);
  now += std::chrono::days(1);
  log.Note(Abuse::kOtherBody, id, now);
  log.Note(Abuse::kOtherBody, ingest_->IdOf(other_.public_key()), now);
  const std::string text = ::testing::internal::GetCapturedStderr();
  const std::vector<std::string> agents = AgentsIn(text);
  ASSERT_EQ(agents.size(), 5U) << text;
  EXPECT_EQ(agents[0], agents[1]);
  EXPECT_EQ(agents[0], agents[2]) << "the same day";
  EXPECT_NE(agents[0], agents[3]) << "another day";
  EXPECT_NE(agents[3], agents[4]);
  EXPECT_THAT(text, HasSubstr("events=4"));
  ::testing::internal::CaptureStderr();
  for (std::size_t i = 0; i < kMaxAbuseEvents + 100; ++i) {
    log.Note(Abuse::kOtherBody, "agent " + std::to_string(i), now + std::chrono::hours(1));
  }
  EXPECT_LE(AgentsIn(::testing::internal::GetCapturedStderr()).size(), kMaxAbuseEvents);
}

TEST_F(TrustTest, NeitherLogNorDataTellWhoMisbehavedOrWhatWasRefused) {
  Open({.probation_batches = 2}, {.modules = {"libsample.so.1"}, .batches_per_agent_per_hour = 6});
  wire::BatchContent content = TestContent(4, kWeek);
  content.rows[0].api.symbol = "canary_accepted";
  content.rows[1].api.soname = "libcanary_unlisted.so";
  content.rows[2] = RowOf(2, Metric::kWallTime, std::uint64_t{1} << 52, 1);
  content.rows[2].api.symbol = "canary_implausible";
  content.rows[3].api.symbol = "canary_old";
  content.rows[3].week = 1;
  ::testing::internal::CaptureStderr();
  for (std::uint64_t sequence = 1; sequence <= 8; ++sequence) Send(sequence, content);
  Send(1, TestContent(1, kWeek));
  ingest_->Handle(SignedRequest(other_, 1, "canary_body"));
  ingest_->Handle(WithdrawalRequest(other_, 1, *wire::EncodeBatch(content), "00canary"));
  EXPECT_TRUE(ingest_->Revoke(other_.public_key()).has_value());
  EXPECT_EQ(Send(other_, 2, content).status, 403);
  EXPECT_TRUE(store_->Checkpoint().has_value());
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("kind=implausible_rows"));
  EXPECT_THAT(log, HasSubstr("kind=too_many_batches"));
  std::vector<std::string> secrets = {"canary_unlisted", "canary_implausible", "canary_old",
                                      "canary_body"};
  std::vector<std::string> not_in_log = {"canary"};
  for (const crypto::PrivateKey* key : {&key_, &other_}) {
    secrets.emplace_back(key->public_key().view());
    secrets.push_back(key->public_key().Hex());
    const std::string id = ingest_->IdOf(key->public_key());
    not_in_log.push_back(id);
    not_in_log.push_back(
        HexEncode({reinterpret_cast<const std::uint8_t*>(id.data()), id.size()}).substr(0, 16));
    not_in_log.push_back(key->public_key().Hex().substr(0, 16));
  }
  for (const std::string& secret : not_in_log) EXPECT_EQ(log.find(secret), std::string::npos);
  int files = 0;
  bool finds_what_is_there = false;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_.path() / "data")) {
    if (!entry.is_regular_file()) continue;
    const auto bytes = ReadFile(entry.path(), 64 * kMiB);
    ASSERT_TRUE(bytes.has_value());
    ++files;
    finds_what_is_there =
        finds_what_is_there || bytes->find("canary_accepted") != std::string::npos;
    for (const std::string& secret : secrets) {
      EXPECT_EQ(bytes->find(secret), std::string::npos) << entry.path();
    }
    for (const std::string& agent : AgentsIn(log)) {
      EXPECT_EQ(bytes->find(agent), std::string::npos) << entry.path();
    }
  }
  EXPECT_GT(files, 2);
  EXPECT_TRUE(finds_what_is_there);
}

}  // namespace
}  // namespace fieldcost::ingest

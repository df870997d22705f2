// Which batches are accepted, how much and how often: probation, shares of space, rates,
// revocation, tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "aggregator/ingest/ingest_limits.h"
#include "common/base/file.h"
#include "tests/aggregator/ingest/trust_fixture.h"

namespace fieldcost::ingest {
namespace {

using stats::Metric;
using ::testing::HasSubstr;

constexpr std::uint32_t kWeek = kTrustWeek;

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
  EXPECT_EQ(Send(1, dishonest).body, first.body) << "a replay gets the same response";
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

TEST_F(TrustTest, WithoutRoomANewAgentIsAskedToRetry) {
  Open({.probation_batches = 2, .held_bytes = 10});
  const http::Response response = Send(1, TestContent(1, kWeek));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(http::Find(response.headers, "Retry-After"), std::to_string(kRetryAfterSeconds));
  EXPECT_EQ(ingest_->counters().no_room_to_hold, 1U);
  EXPECT_TRUE(store_->healthy());
}

// Returns a batch that is small as received but would be large as stored, with one implausible row.
wire::BatchContent SmallAndLarge(unsigned number) {
  wire::BatchContent content = TestContent(0, kWeek);
  for (unsigned row = 0; row < 2048; ++row) {
    content.rows.push_back(RowOf(row, Metric::kWallTime, 37, 1));
    content.rows.back().first_contribution = false;
    content.rows.back().api.build_id = std::string(40, 'b');
  }
  content.rows.push_back(RowOf(9000 + number, Metric::kWallTime, std::uint64_t{1} << 52, 1));
  return content;
}

class CrowdTest : public TrustTest {
 protected:
  // Two keys send as much as each may. Returns the bytes sent.
  std::size_t Attack() {
    std::size_t bytes = 0;
    for (std::uint64_t sequence = 1; sequence <= 48; ++sequence) {
      for (const crypto::PrivateKey* key : {&key_, &other_}) {
        const http::Request request =
            SignedRequest(*key, sequence, SmallAndLarge(static_cast<unsigned>(sequence)));
        bytes += request.body.size();
        const int status = ingest_->Handle(request).status;
        EXPECT_TRUE(status == 200 || status == 503) << status;
      }
    }
    return bytes;
  }

  // Sends one batch from each of `agents` new agents; returns how many were accepted.
  unsigned SendFresh(unsigned agents) {
    std::atomic<unsigned> next{0};
    std::atomic<unsigned> taken{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 16; ++thread) {
      threads.emplace_back([&] {
        for (unsigned agent = next++; agent < agents; agent = next++) {
          const std::string number = std::to_string(agent);
          const auto key =
              crypto::PrivateKey::FromSeed(number + std::string(32 - number.size(), 'f'));
          const http::Response response = Send(key, 1, TestContent(3, kWeek));
          taken += response.status == 200 ? 1 : 0;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    return taken;
  }
};

TEST_F(CrowdTest, TwoKeysDoNotShutAThousandOut) {
  Open({.probation_batches = 3, .held_bytes = 32 * kMiB});  // an eighth of the default
  EXPECT_LT(Attack(), 600'000U);
  EXPECT_LT(store_->Gauges().held_bytes, 2'000'000U) << "as it came";
  EXPECT_EQ(SendFresh(1000), 1000U);
  EXPECT_EQ(store_->Gauges().evicted_batches, 0U);
  EXPECT_TRUE(store_->Verify()->ok());
}

TEST_F(CrowdTest, DishonestAgentsMakeRoomFirst) {
  Open({.probation_batches = 3, .held_bytes = 512 * kKiB, .held_bytes_per_agent = 256 * kKiB});
  Attack();
  const std::uint64_t before = store_->Gauges().held_bytes;
  EXPECT_EQ(store_->Gauges().honest_held_bytes, 0U);
  EXPECT_GT(before, 110'000U);
  EXPECT_EQ(SendFresh(300), 300U);
  const store::StoreGauges gauges = store_->Gauges();
  EXPECT_LE(gauges.held_bytes, 512 * kKiB);
  EXPECT_GT(gauges.honest_held_bytes, 300'000U);
  EXPECT_GT(gauges.evicted_batches, 0U);
  EXPECT_TRUE(store_->Verify()->ok());
}

TEST_F(TrustTest, OneAddressTakesItsShareOfTheRoomForNewAgents) {
  Open({.probation_batches = 3}, {.held_bytes_per_address = 10'000});
  unsigned agent = 0;
  const auto send = [&](const std::string& address) {
    const std::string number = std::to_string(++agent);
    const auto key = crypto::PrivateKey::FromSeed(number + std::string(32 - number.size(), 'f'));
    http::Request request = SignedRequest(key, 1, TestContent(1, kWeek));
    request.peer_address = address;
    return ingest_->Handle(request).status;
  };
  while (send("192.0.2.1") == 200) ASSERT_LE(agent, 10U);
  EXPECT_GE(agent, 5U);
  EXPECT_EQ(ingest_->counters().no_room_to_hold, 1U);
  EXPECT_EQ(send("::ffff:192.0.2.1"), 503) << "the same";
  EXPECT_EQ(send("192.0.2.2"), 200);
  while (send("2001:db8:0:1::1") == 200) ASSERT_LE(agent, 30U);
  EXPECT_EQ(send("2001:db8:0:1:ff::2"), 503) << "the same network of 64 bits";
  EXPECT_EQ(send("2001:db8:0:2::1"), 200);
  clock_.Advance(std::chrono::hours(12));
  EXPECT_EQ(send("192.0.2.1"), 200) << "half a share is back";
  clock_.Advance(std::chrono::hours(-12));
  EXPECT_EQ(send("::"), 200) << "a clock that goes back does no harm";
}

TEST_F(TrustTest, TooManyBatchesWaitForTheNextHour) {
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

TEST_F(TrustTest, TooManyRowsWaitForTheNextHour) {
  Open({}, {.rows_per_agent_per_hour = 10});
  clock_.Advance(std::chrono::minutes(50));
  EXPECT_EQ(Send(1, TestContent(9, kWeek)).status, 200);
  wire::BatchContent more = TestContent(40, kWeek);
  more.rows.erase(more.rows.begin(), more.rows.begin() + 9);
  EXPECT_EQ(Send(2, more).status, 200) << "a batch of any size passes in some hour";
  ::testing::internal::CaptureStderr();
  const http::Response refused = Send(3, TestContent(1, kWeek));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("kind=too_many_rows agent="));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(http::Find(refused.headers, "Retry-After"), "600");
  EXPECT_EQ(ingest_->counters().too_many_rows, 1U);
  EXPECT_EQ(ingest_->counters().accepted_rows, 40U);
  EXPECT_EQ(Send(other_, 1, TestContent(1, kWeek)).status, 200);
  EXPECT_EQ(ingest_->Handle(WithdrawalRequest(key_, 2, *wire::EncodeBatch(more), "")).body,
            R"({"withdrawn_rows":31})");
  clock_.Advance(std::chrono::minutes(10));
  EXPECT_EQ(Send(3, TestContent(1, kWeek)).status, 200);
}

TEST_F(TrustTest, ARowOfManyBucketsCountsAsSeveral) {
  Open({}, {.rows_per_agent_per_hour = 10});
  wire::BatchContent wide = TestContent(4, kWeek);
  for (wire::BatchRow& row : wide.rows) {
    for (unsigned bit = 0; bit < 40; ++bit) row.histogram.Add(std::uint64_t{1} << bit);
  }
  EXPECT_EQ(Send(1, wide).status, 200);
  EXPECT_EQ(Send(2, TestContent(1, kWeek)).status, 429);
}

TEST_F(TrustTest, TooManyWithdrawalsWaitForTheNextHour) {
  Open({}, {.batches_per_agent_per_hour = 2});
  const auto withdrawal = [this](std::uint64_t sequence) {
    return ingest_->Handle(
        WithdrawalRequest(key_, sequence, *wire::EncodeBatch(TestContent(1, kWeek)), ""));
  };
  EXPECT_EQ(Send(1, TestContent(1, kWeek)).status, 200);
  EXPECT_EQ(Send(2, TestContent(1, kWeek)).status, 200);
  EXPECT_EQ(withdrawal(1).status, 200) << "apart from what was sent";
  EXPECT_EQ(withdrawal(2).status, 200);
  const http::Response refused = withdrawal(3);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(http::Find(refused.headers, "Retry-After"), "3600");
  EXPECT_EQ(ingest_->counters().too_many_batches, 1U);
  EXPECT_EQ(ingest_->counters().withdrawn_before_arrival, 0U) << "nothing was noted";
  clock_.Advance(std::chrono::hours(1));
  EXPECT_EQ(withdrawal(3).status, 200);
  EXPECT_EQ(ingest_->counters().withdrawn_before_arrival, 1U);
}

TEST_F(TrustTest, LimitsWithdrawalsOfUndeliveredBatches) {
  const std::string body = *wire::EncodeBatch(TestContent(1, kWeek));
  for (std::uint64_t sequence = 1; sequence <= store::kMaxUndelivered; ++sequence) {
    ASSERT_EQ(ingest_->Handle(WithdrawalRequest(key_, sequence, body, "")).status, 200);
  }
  const http::Response refused =
      ingest_->Handle(WithdrawalRequest(key_, store::kMaxUndelivered + 1, body, ""));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(http::Find(refused.headers, "Retry-After"), "86400");
  EXPECT_EQ(ingest_->counters().too_many_undelivered, 1U);
}

TEST_F(TrustTest, WithoutRoomOnTheDiskNoBatchIsTakenButAllIsTakenBack) {
  bool full = false;
  Open({}, {.batches_per_agent_per_hour = 2, .disk_is_full = [&full] { return full; }});
  const wire::BatchContent content = TestContent(1, kWeek);
  EXPECT_EQ(Send(1, content).status, 200);
  full = true;
  ::testing::internal::CaptureStderr();
  for (std::uint64_t sequence = 1; sequence <= 4; ++sequence) {
    EXPECT_EQ(Send(sequence, content).status, 507) << "neither known rows nor new ones";
  }
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("too little space on the data disk"));
  EXPECT_EQ(log.find("batches are refused"), log.rfind("batches are refused")) << "logged once";
  EXPECT_EQ(ingest_->counters().disk_full, 4U);
  EXPECT_EQ(ingest_->Handle(WithdrawalRequest(key_, 1, *wire::EncodeBatch(content), "")).body,
            R"({"withdrawn_rows":1})");
  full = false;
  EXPECT_EQ(Send(2, content).status, 200) << "refused batches are not counted";
}

TEST_F(TrustTest, RefusesARevokedAgentAtOnceAndPermanently) {
  Open({.probation_batches = 3});
  EXPECT_TRUE(MustSend(1, TestContent(1, kWeek)).held);
  ASSERT_TRUE(ingest_->Revoke({.agent = key_.public_key().Hex()}).has_value());
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
      std::move(*Admission::Load(EnrolmentMode::kToken, {file}, *store_)),
      IngestOptions{.names = {kTestHost}, .roots = {kTestRoot}});
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

}  // namespace
}  // namespace fieldcost::ingest

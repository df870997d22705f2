// The log of batches, and withdrawing what was sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/settings/hardware.h"
#include "agent/spool/spool_db.h"
#include "agent/upload/agent_keys.h"
#include "common/crypto/sha256.h"
#include "common/wire/epoch.h"
#include "tests/agent/volunteer/agent_fixture.h"

namespace fieldcost::volunteer {
namespace {

using testing::AggregatorStandIn;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ForgetTest : public AgentFixture {
 protected:
  void SetUp() override {
    StartServer();
    WriteConfig();
  }

  void Send(Agent& agent, std::uint64_t value = 3) {
    Measure(agent, value);
    ASSERT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
  }
  std::filesystem::path Key(wire::Epoch epoch) const {
    return paths_.state_dir / "agent_keys" / std::to_string(epoch.value());
  }
};

constexpr wire::Epoch kStartEpoch{2893 / 13};  // the week of kStart, 12 June 2025

constexpr wire::Epoch EpochsLater(std::uint64_t epochs) {
  return wire::Epoch(kStartEpoch.value() + epochs);
}

TEST_F(ForgetTest, TheLogShowsEachBatchAndItsExactBytes) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  EXPECT_THAT(*agent.Log(), IsEmpty());
  EXPECT_EQ(agent.ReadBatch(1).error().code, ErrorCode::kNotFound);
  Send(agent);
  clock_.Advance(std::chrono::hours(1));
  Measure(agent, 4);
  server_->Script({.status = 503, .headers = {}, .body = {}});
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow)->stopped_by);
  const auto log = *agent.Log();
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].id, 1U);
  EXPECT_EQ(log[0].epoch, kStartEpoch);
  EXPECT_EQ(log[0].sequence, 1U);
  EXPECT_EQ(log[0].state, spool::SpoolState::kSent);
  EXPECT_EQ(log[0].rows, 2U);
  EXPECT_EQ(log[0].created, kStart);
  EXPECT_EQ(log[0].sent, kStart);
  EXPECT_TRUE(log[0].can_withdraw);
  EXPECT_EQ(log[1].state, spool::SpoolState::kQueued);
  EXPECT_EQ(log[1].sent, WallTime{});
  const auto batch = agent.ReadBatch(1);
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_EQ(batch->raw, server_->bodies()[0]);
  EXPECT_EQ(batch->raw.size(), log[0].size_bytes);
  EXPECT_EQ(*wire::EncodeBatch(batch->content), batch->raw);
  const std::string hash = crypto::Sha256(batch->raw);
  std::string hex;
  for (const char byte : hash) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  EXPECT_EQ(log[0].sha256, hex);
}

TEST_F(ForgetTest, SentBytesAreKeptUpToTheLimitOldestGoFirst) {
  WriteConfig("[spool]\nmax_sent_bytes = 0\n");
  Agent agent = OpenAgent(settings::Mode::kOn);
  Send(agent);
  EXPECT_FALSE((*agent.Log())[0].can_withdraw);
  EXPECT_EQ(agent.ReadBatch(1).error().code, ErrorCode::kNotFound);
  const std::uint64_t size = (*agent.Log())[0].size_bytes;
  WriteConfig("[spool]\nmax_sent_bytes = " + std::to_string(size * 5 / 2) + "\n");
  Agent second = OpenAgent();
  for (int i = 0; i < 3; ++i) Send(second);
  const auto log = *second.Log();
  ASSERT_EQ(log.size(), 4U);
  EXPECT_FALSE(log[1].can_withdraw);
  EXPECT_TRUE(log[2].can_withdraw);
  EXPECT_TRUE(log[3].can_withdraw);
  const auto report = second.Forget();
  EXPECT_EQ(report->batches_withdrawn, 2U);
  EXPECT_EQ(report->batches_too_old, 2U);
}

TEST_F(ForgetTest, ForgettingTakesBackExactlyWhatWasSentAndDropsTheRest) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  for (int i = 0; i < 3; ++i) Send(agent);
  Measure(agent);
  server_->Script({.status = 503, .headers = {}, .body = {}});
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow)->stopped_by);  // attempted: may have arrived
  Measure(agent);                                                     // pending
  WriteRun("unread", {7});                                            // not even harvested
  ASSERT_EQ(server_->bodies().size(), 3U);
  const auto report = agent.Forget();
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(report->stopped_by) << report->stopped_by->message;
  EXPECT_EQ(report->batches_withdrawn, 3U);
  EXPECT_EQ(report->rows_withdrawn, 6U);
  EXPECT_EQ(report->batches_deleted, 1U);
  EXPECT_EQ(report->batches_refused + report->batches_too_old + report->batches_left, 0U);
  EXPECT_THAT(server_->bodies(), IsEmpty());
  EXPECT_EQ(server_->bad_requests(), 0U);
  EXPECT_EQ(agent.GetStatus()->outbox.withdrawn_batches, 4U);
  EXPECT_EQ(agent.GetStatus()->consent.mode, settings::Mode::kOn);
  EXPECT_FALSE(agent.Preview()->has_value());
  EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 0U);
  EXPECT_EQ(agent.Forget()->batches_withdrawn, 0U) << "nothing is left to forget";
  Send(agent);
  EXPECT_TRUE(server_->Rows()[0].first_contribution) << "it counts as if it were the first";
}

TEST_F(ForgetTest, DeletesUnsentDataWithoutContactingTheServer) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  WriteConfig("[batch]\nmax_batch_bytes = 1024\n");
  Agent small = OpenAgent();
  testing::RunFileOptions options = Ended();
  options.picks.clear();
  for (int i = 0; i < 60; ++i) {
    options.picks.push_back({.symbol = "function_number_" + std::to_string(i)});
  }
  {
    testing::RunFileWriter file(RunPath("many"), options);
    for (std::uint32_t pick = 0; pick < 60; ++pick) file.Add(pick, 0, pick);
  }
  ASSERT_TRUE(small.Harvest());
  const auto waiting = small.Upload(UploadWish::kWhatIsDue)->batches_left;
  EXPECT_GT(waiting, 0U);
  EXPECT_EQ(small.Forget()->batches_deleted, waiting);
  EXPECT_EQ(server_->requests(), 0U);
  EXPECT_EQ(small.GetStatus()->outbox.pending_rows, 0U);
}

TEST_F(ForgetTest, StopsWithoutTheServerAndContinuesLater) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  for (const int status : {503, 429}) {  // or limits withdrawals per hour
    for (int i = 0; i < 4; ++i) Send(agent);
    server_->Script({.status = status, .headers = {{"Retry-After", "60"}}, .body = "busy"});
    auto report = agent.Forget();
    ASSERT_TRUE(report && report->stopped_by);
    EXPECT_EQ(report->stopped_by->code, ErrorCode::kUnavailable);
    EXPECT_EQ(report->batches_left, 4U);
    EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 0U);
    report = agent.Forget();
    EXPECT_FALSE(report->stopped_by);
    EXPECT_EQ(report->batches_withdrawn, 4U);
    EXPECT_THAT(server_->bodies(), IsEmpty());
  }
}

TEST_F(ForgetTest, CountsRefusedWithdrawalsByReasonAndContinues) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  for (int i = 0; i < 3; ++i) Send(agent);
  server_->Script({.status = 410, .headers = {}, .body = "too long ago"});
  const auto report = agent.Forget();
  EXPECT_FALSE(report->stopped_by);
  EXPECT_EQ(report->batches_refused, 1U);
  EXPECT_THAT(report->refused_reason, HasSubstr("too long ago"));
  EXPECT_EQ(report->batches_withdrawn, 2U);
  EXPECT_THAT((*agent.Log())[0].reason, HasSubstr("too long ago"));
  EXPECT_EQ((*agent.Log())[0].state, spool::SpoolState::kSent);
}

TEST_F(ForgetTest, ABatchThatWasTriedBeforeConsentWasWithdrawnCanStillBeTakenBack) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  Measure(agent);
  server_->Script({.headers = {}, .body = {}, .never = true, .counted = true});
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow)->stopped_by);
  ASSERT_EQ(server_->bodies().size(), 1U);
  ASSERT_TRUE(agent.SetMode(settings::Mode::kOff));
  EXPECT_EQ(agent.GetStatus()->outbox.spooled_batches, 0U);
  ASSERT_EQ(agent.Log()->size(), 1U);
  EXPECT_EQ((*agent.Log())[0].state, spool::SpoolState::kDropped);
  const auto report = agent.Forget();
  EXPECT_FALSE(report->stopped_by);
  EXPECT_EQ(report->batches_withdrawn + report->batches_deleted, 1U);
  EXPECT_THAT(server_->bodies(), IsEmpty());
}

TEST_F(ForgetTest, EachQuarterHasItsOwnKeyAndCountsFromOne) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  Send(agent);
  Send(agent);
  EXPECT_TRUE(std::filesystem::exists(Key(kStartEpoch)));
  Measure(agent);
  server_->Script({.status = 503, .headers = {}, .body = {}});
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow)->stopped_by);
  clock_.Advance(std::chrono::weeks(13));
  EXPECT_EQ((*agent.Preview())->sequence, 3U) << "spooled batches keep their numbers";
  ASSERT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
  Measure(agent);
  EXPECT_EQ((*agent.Preview())->sequence, 1U);
  ASSERT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
  EXPECT_THAT(server_->sequences(), ::testing::UnorderedElementsAre(1, 2, 3, 1));
  EXPECT_EQ(server_->agents().size(), 2U) << "two keys, two epochs";
  EXPECT_EQ(server_->bad_requests(), 0U);
  EXPECT_EQ(agent.Log()->back().epoch, EpochsLater(1));
  // Back in the first quarter: no sequence is reused.
  clock_.Advance(-std::chrono::weeks(12));
  Send(agent);
  EXPECT_EQ(agent.Log()->back().epoch, kStartEpoch);
  EXPECT_EQ(agent.Log()->back().sequence, 4U);
  EXPECT_EQ(server_->agents().size(), 2U) << "and no other key";
  EXPECT_TRUE(std::filesystem::exists(Key(kStartEpoch))) << "needed to withdraw";
  EXPECT_EQ(agent.Forget()->batches_withdrawn, 5U);
  EXPECT_TRUE(std::filesystem::exists(Key(kStartEpoch)));
  EXPECT_FALSE(std::filesystem::exists(Key(EpochsLater(1))));
}

TEST_F(ForgetTest, SendsEachQuartersCallsUnderThatQuartersKey) {
  const WallTime turn{std::chrono::weeks(13 * EpochsLater(1).value())};
  clock_.Advance(turn - std::chrono::hours(3) - clock_.Now());
  Agent agent = OpenAgent(settings::Mode::kOn);
  Send(agent);
  Measure(agent);  // not the first in its week
  clock_.Advance(std::chrono::hours(4));
  Measure(agent);
  EXPECT_EQ((*agent.Preview())->sequence, 2U);
  EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 2U);
  const auto log = *agent.Log();
  ASSERT_EQ(log.size(), 3U);
  EXPECT_EQ(log[1].epoch, kStartEpoch);
  EXPECT_EQ(log[1].sequence, 2U);
  EXPECT_EQ(log[2].epoch, EpochsLater(1));
  EXPECT_EQ(log[2].sequence, 1U);
  const auto newest = agent.ReadBatch(3);
  ASSERT_TRUE(newest);
  for (const auto& row : newest->content.rows) {
    EXPECT_TRUE(row.first_contribution) << "a new key that has been here before";
  }
  EXPECT_FALSE(agent.ReadBatch(2)->content.rows.at(0).first_contribution);
  EXPECT_EQ(server_->agents().size(), 2U);
}

TEST_F(ForgetTest, AClockThatWasYearsAheadForAMomentDoesNotKeepTheKeyFromChanging) {
  constexpr std::chrono::weeks kYears{520};
  Agent agent = OpenAgent(settings::Mode::kOn);
  Send(agent);
  clock_.Advance(kYears);
  Send(agent);
  EXPECT_EQ(agent.Log()->back().epoch, EpochsLater(40));
  clock_.Advance(-kYears);
  Send(agent);
  EXPECT_EQ(agent.Log()->back().epoch, kStartEpoch);
  EXPECT_EQ(agent.Log()->back().sequence, 2U);
  clock_.Advance(std::chrono::weeks(13));
  Send(agent);
  EXPECT_EQ(agent.Log()->back().epoch, EpochsLater(1));
  EXPECT_EQ(server_->agents().size(), 3U);
  EXPECT_EQ(server_->bad_requests(), 0U);
  EXPECT_EQ(server_->Calls(stats::Metric::kWallTime), 4U);
}

TEST_F(ForgetTest, ABatchThatWasTriedIsNeverSentWithAnotherKey) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  Measure(agent);
  server_->Script({.headers = {}, .body = {}, .never = true, .counted = true});
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow)->stopped_by);
  std::filesystem::remove(Key(kStartEpoch));
  EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_quarantined, 1U);
  EXPECT_THAT(agent.Log()->back().reason, HasSubstr("key"));
  Send(agent, 4);
  EXPECT_EQ(server_->Calls(stats::Metric::kWallTime), 2U) << "once each";
  int contributions = 0;
  for (const auto& row : server_->Rows(stats::Metric::kWallTime)) {
    contributions += row.first_contribution ? 1 : 0;
  }
  EXPECT_EQ(contributions, 1) << "the first had arrived";
}

TEST_F(ForgetTest, BatchesHoldNoCountOfThisMachinesActions) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  for (const char* modules : {"libone.so.1", "libtwo.so.2", "libthree.so.3"}) {
    WriteConfig(fmt::format("[selection]\npicks_per_run = {}\n", 1 + modules[3] % 4));
    ASSERT_TRUE(OpenAgent().WritePolicy({.forced = true}));
  }
  Measure(agent);
  EXPECT_EQ((*agent.Preview())->content.field_policy_version, 0U) << "the same in each quarter";
  ASSERT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
  EXPECT_EQ(agent.ReadBatch(1)->content.field_policy_version, 0U);
}

TEST_F(ForgetTest, TheClassOfAQuartersFirstBatchIsThatOfAllItsBatches) {
  const stats::HardwareClass now = settings::ThisHardware();
  stats::HardwareClass before = now;
  ++before.log2_memory_mib;
  Agent agent = OpenAgent(settings::Mode::kOn);
  {
    // Simulates a different machine at the beginning of the quarter.
    auto database = spool::StateDb::Open(paths_.state_dir / "agent.db");
    ASSERT_TRUE(database);
    ASSERT_TRUE(spool::SpoolDb(*database).PinClass(kStartEpoch, before));
  }
  Measure(agent);
  EXPECT_EQ((*agent.Preview())->content.hardware, before);
  ASSERT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
  Measure(agent);
  EXPECT_FALSE((*agent.Preview())->content.rows.front().first_contribution);
  ASSERT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
  clock_.Advance(std::chrono::weeks(13));
  Measure(agent);
  ASSERT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
  EXPECT_EQ(agent.ReadBatch(1)->content.hardware, before);
  EXPECT_EQ(agent.ReadBatch(2)->content.hardware, before);
  EXPECT_EQ(agent.ReadBatch(3)->content.hardware, now) << "a new key, and what the machine is";
}

TEST_F(ForgetTest, OneUploadHasBatchesOfOneQuarterOnly) {
  const WallTime turn{std::chrono::weeks(13 * EpochsLater(1).value())};
  clock_.Advance(turn - std::chrono::hours(3) - clock_.Now());
  Agent agent = OpenAgent(settings::Mode::kOn);
  for (int i = 0; i < 8; ++i) Send(agent);  // enough that two batches may be sent at once
  Measure(agent);
  server_->Script({.status = 503, .headers = {}, .body = {}});
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow)->stopped_by);
  clock_.Advance(std::chrono::hours(4));
  Measure(agent, 4);
  for (int i = 0; i < 100 && server_->bodies().size() == 8; ++i) {
    const auto next = *agent.NextUpload();
    ASSERT_TRUE(next);
    if (*next > clock_.Now()) clock_.Advance(*next - clock_.Now());
    ASSERT_TRUE(agent.Upload(UploadWish::kWhatIsDue));
  }
  EXPECT_EQ(server_->bodies().size(), 9U);
  EXPECT_EQ(server_->agents().size(), 1U) << "two at a time would belong together";
  const auto next = *agent.NextUpload();
  ASSERT_TRUE(next);
  EXPECT_GT(*next, clock_.Now() + std::chrono::hours(1));
  EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_left, 0U);
  EXPECT_EQ(server_->agents().size(), 2U);
}

}  // namespace
}  // namespace fieldcost::volunteer

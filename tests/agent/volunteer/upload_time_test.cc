// The agent over several weeks, and during clock jumps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/upload/agent_keys.h"
#include "agent/volunteer/agent_state.h"
#include "common/wire/epoch.h"
#include "tests/agent/volunteer/agent_fixture.h"

namespace fieldcost::volunteer {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr hours kDay{24};
constexpr hours kYears{24 * 365 * 10};

class UploadTimeTest : public AgentFixture {
 protected:
  void SetUp() override {
    StartServer();
    WriteConfig();
  }

  // Acts like the daemon for this time: harvests each hour and uploads when due.
  void Live(Agent& agent, hours time, int measure_each_hours) {
    for (hours hour{0}; hour < time; ++hour) {
      if (hour.count() % measure_each_hours == 0) {
        ASSERT_NO_FATAL_FAILURE(Measure(agent));
      }
      const WallTime end = clock_.Now() + hours(1);
      for (;;) {
        const auto next = agent.NextUpload();
        ASSERT_TRUE(next) << next.error().message;
        if (!*next || **next > end) break;
        if (**next > clock_.Now()) clock_.Advance(**next - clock_.Now());
        const auto report = agent.Upload(UploadWish::kWhatIsDue);
        ASSERT_TRUE(report) << report.error().message;
        const auto again = agent.NextUpload();
        ASSERT_TRUE(!*again || **again > clock_.Now()) << "it would retry forever";
      }
      clock_.Advance(end - clock_.Now());
    }
  }
};

TEST_F(UploadTimeTest, ADaysWorkIsOneRequest) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  ASSERT_NO_FATAL_FAILURE(Live(agent, 10 * kDay, 4));
  EXPECT_GE(server_->requests(), 9U);
  EXPECT_LE(server_->requests(), 11U);
  EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_left, 0U);
  EXPECT_EQ(server_->Calls(stats::Metric::kWallTime), runs_);
}

TEST_F(UploadTimeTest, AMonthWithoutTheServerCostsLittleAndLosesLittle) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  ASSERT_NO_FATAL_FAILURE(Live(agent, 3 * kDay, 12));
  const std::uint64_t before = server_->requests();
  for (int i = 0; i < 100; ++i) server_->Script({.status = 503, .headers = {}, .body = {}});
  ASSERT_NO_FATAL_FAILURE(Live(agent, 30 * kDay, 12));
  const std::uint64_t tries = server_->requests() - before;
  EXPECT_GE(tries, 20U);
  EXPECT_LE(tries, 33U) << "one a day, and one soon after the first failure";
  const auto status = agent.GetStatus();
  EXPECT_EQ(status->upload.failed_uploads, tries);
  EXPECT_THAT(status->upload.upload_problem, ::testing::HasSubstr("503"));
  EXPECT_LE(status->outbox.spooled_batches, 2U) << "later measurements are merged";
  EXPECT_EQ(status->outbox.dropped_batches, 1U);
  EXPECT_GE(status->outbox.dropped_rows, 2U);
  EXPECT_LE(status->outbox.dropped_rows, 4U) << "of two weeks, if its day was between them";
  // The server works again; uses up the remaining scripted responses.
  for (std::uint64_t i = tries; i < 100; ++i) ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  const std::uint64_t back = server_->requests();
  ASSERT_NO_FATAL_FAILURE(Live(agent, 7 * kDay, 12));
  EXPECT_LE(server_->requests() - back, 9U);
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  EXPECT_EQ(agent.GetStatus()->upload.failed_uploads, 0U);
  // The batch dropped after three weeks had two or three runs. It had been attempted, so its bytes
  // are still stored.
  EXPECT_GE(server_->Calls(stats::Metric::kWallTime) + 3, runs_);
  EXPECT_EQ(server_->bad_requests(), 0U);
}

TEST_F(UploadTimeTest, FailuresAndTimesOutliveTheProcess) {
  std::optional<WallTime> next;
  {
    Agent agent = OpenAgent(settings::Mode::kOn);
    Measure(agent);
    server_->Script({.status = 503, .headers = {{"Retry-After", "7200"}}, .body = {}});
    ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow)->stopped_by);
    next = *agent.NextUpload();
  }
  Agent agent = OpenAgent();
  EXPECT_EQ(*agent.NextUpload(), next);
  EXPECT_GE(*next, kStart + hours(2));
  EXPECT_EQ(agent.GetStatus()->upload.failed_uploads, 1U);
  EXPECT_EQ(agent.Upload(UploadWish::kWhatIsDue)->batches_sent, 0U);
  EXPECT_EQ(server_->requests(), 1U) << "not before the time";
  EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U) << "but at the user's wish";
}

TEST_F(UploadTimeTest, AClockThatJumpsTenYearsLosesNothingAndSendsNothingTwice) {
  for (const hours jump : {kYears, -kYears}) {
    Agent agent = OpenAgent(settings::Mode::kOn);
    ASSERT_NO_FATAL_FAILURE(Live(agent, 2 * kDay, 6));
    server_->Script({.status = 503, .headers = {}, .body = {}});
    ASSERT_NO_FATAL_FAILURE(Measure(agent));
    ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow)->stopped_by);
    ASSERT_EQ(agent.GetStatus()->outbox.spooled_batches, 1U);
    const std::uint64_t requests = server_->requests();
    clock_.Advance(jump);
    // Avoids runs from before the consent, which are not sent; other tests cover that.
    for (int day = 0; day < 3; ++day) {
      clock_.Advance(kDay);
      ASSERT_TRUE(agent.NextUpload());
      ASSERT_TRUE(agent.Upload(UploadWish::kWhatIsDue));
    }
    clock_.Advance(-jump);
    ASSERT_NO_FATAL_FAILURE(Live(agent, 3 * kDay, 6));
    EXPECT_GT(server_->requests(), requests) << "a wrong clock must not silence it for years";
    ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
    EXPECT_EQ(agent.GetStatus()->outbox.dropped_batches, 0U);
    EXPECT_EQ(agent.GetStatus()->outbox.spooled_batches, 0U);
    EXPECT_EQ(server_->Calls(stats::Metric::kWallTime), runs_);
    EXPECT_EQ(server_->bad_requests(), 0U);
  }
}

// All agents change their slots at the same moment.
TEST_F(UploadTimeTest, TheTurnOfAQuarterTriggersNoImmediateUpload) {
  const WallTime turn{std::chrono::weeks(13 * static_cast<int>(wire::EpochOf(kStart).value() + 1))};
  clock_.Advance(turn - hours(13) - clock_.Now());
  Agent agent = OpenAgent(settings::Mode::kOn);
  Measure(agent);
  const WallTime oldest = clock_.Now();
  // An agent whose old slot comes later and whose new slot has just passed.
  std::uint64_t seed = 1;
  const auto is_wanted = [&] {
    upload::UploadState upload{.seed = seed ^ (wire::EpochOf(oldest).value() << 32)};
    upload.oldest_pending = oldest;
    if (*upload::NextUploadTime(upload, oldest) < turn + hours(1)) return false;
    upload.seed = seed ^ (wire::EpochOf(turn).value() << 32);
    const WallTime next = *upload::NextUploadTime(upload, turn);
    return next < turn && next > turn - hours(1);
  };
  while (!is_wanted()) ++seed;
  {
    auto database = spool::StateDb::Open(paths_.state_dir / "agent.db");
    ASSERT_TRUE(database->Set(kUploadSeedNumber, seed));
  }
  ASSERT_GT(**agent.NextUpload(), turn);
  clock_.Advance(turn - clock_.Now());
  EXPECT_EQ(agent.Upload(UploadWish::kWhatIsDue)->batches_sent, 0U);
  const auto next = *agent.NextUpload();
  ASSERT_TRUE(next);
  EXPECT_GT(*next, turn);
  EXPECT_LE(*next, turn + kDay);
  EXPECT_EQ(*agent.NextUpload(), next) << "drawn once";
  clock_.Advance(*next - clock_.Now());
  EXPECT_EQ(agent.Upload(UploadWish::kWhatIsDue)->batches_sent, 1U);
}

// The server is unavailable for a long time: attempted and dropped batches are kept as long as sent
// ones, but not permanently.
TEST_F(UploadTimeTest, BytesOfDroppedBatchesAreLimitedThoughNothingArrives) {
  WriteConfig("[spool]\nmax_sent_bytes = 0\nmax_spool_age_days = 1\n");
  Agent agent = OpenAgent(settings::Mode::kOn);
  Measure(agent);
  server_->Script({.status = 503, .headers = {}, .body = {}});
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow)->stopped_by);
  clock_.Advance(2 * kDay);
  ASSERT_TRUE(agent.Upload(UploadWish::kWhatIsDue));
  ASSERT_EQ(agent.GetStatus()->outbox.dropped_batches, 1U);
  EXPECT_FALSE((*agent.Log())[0].can_withdraw);
}

TEST_F(UploadTimeTest, TheMachineThatSleptIsSpreadAndThenServed) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  Measure(agent);
  clock_.Advance(5 * kDay);
  EXPECT_EQ(agent.Upload(UploadWish::kWhatIsDue)->batches_sent, 0U);
  const auto next = *agent.NextUpload();
  ASSERT_TRUE(next);
  EXPECT_GE(*next, clock_.Now());
  EXPECT_LE(*next, clock_.Now() + hours(4));
  EXPECT_EQ(*agent.NextUpload(), next) << "drawn once";
  clock_.Advance(*next - clock_.Now());
  EXPECT_EQ(agent.Upload(UploadWish::kWhatIsDue)->batches_sent, 1U);
}

}  // namespace
}  // namespace fieldcost::volunteer

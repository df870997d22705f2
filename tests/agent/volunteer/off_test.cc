// Withdraws consent while a batch is being sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>

#include "agent/upload/upload_lock.h"
#include "tests/agent/volunteer/agent_fixture.h"
#include "tests/agent/volunteer/holding_proxy.h"
#include "tests/support/wait_until.h"

namespace fieldcost::volunteer {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using testing::HoldingProxy;
using Step = HoldingProxy::Step;

class OffTest : public AgentFixture {
 protected:
  void SetUp() override { StartServer(); }

  // As seen by another process.
  bool IsUploading() const {
    const auto lock = upload::UploadLock::Take(paths_, milliseconds(0));
    return !lock || !*lock;
  }

  // An agent with a batch too large for the buffers of the sockets on the way.
  Agent AgentWithABatch(std::uint16_t proxy_port) {
    WriteConfig();
    auto config = ReadFile(paths_.config_file, 10'000);
    EXPECT_TRUE(config);
    *config += "proxy = \"http://127.0.0.1:" + std::to_string(proxy_port) + "\"\n";
    EXPECT_TRUE(WriteFileAtomically(paths_.config_file, *config, 0600));
    Agent agent = OpenAgent(settings::Mode::kOn);
    testing::RunFileOptions options = Ended();
    options.picks.clear();
    std::mt19937 random(1);
    for (int i = 0; i < 150; ++i) {
      std::string symbol = "f";
      while (symbol.size() < 200) symbol += "abcdefghijklmnopqrstuvwxyz234567"[random() % 32];
      options.picks.push_back({.symbol = symbol});
    }
    {
      testing::RunFileWriter file(RunPath("large"), options);
      for (std::uint32_t pick = 0; pick < 150; ++pick) file.Add(3, 0, pick);
    }
    EXPECT_TRUE(agent.Harvest());
    const auto batch = agent.Preview();
    EXPECT_TRUE(batch && *batch && (*batch)->raw.size() > 12'000U);
    return agent;
  }
};

struct Withdrawal {
  Step step;
  settings::Mode to;
};

class OffWhileSendingTest : public OffTest, public ::testing::WithParamInterface<Withdrawal> {};

TEST_P(OffWhileSendingTest, SendsNothingOnceItHasReturned) {
  HoldingProxy proxy(GetParam().step);
  Agent agent = AgentWithABatch(proxy.port());
  std::thread upload([&agent] { EXPECT_TRUE(agent.Upload(UploadWish::kEverythingNow)); });
  proxy.WaitUntilHeld();
  Agent other = OpenAgent();
  // The proxy cannot detect the first step: the lock may be held before a batch exists.
  EXPECT_TRUE(testing::WaitUntil([&] { return IsUploading() && !other.Log()->empty(); }));
  const Status off = other.SetMode(GetParam().to);
  EXPECT_TRUE(off) << off.error().message;
  EXPECT_FALSE(IsUploading());
  proxy.Release();
  upload.join();
  EXPECT_EQ(server_->requests(), 0U);
  const auto log = other.Log();
  ASSERT_EQ(log->size(), 1U);
  EXPECT_EQ(log->front().state, spool::SpoolState::kDropped);
  EXPECT_THAT(log->front().reason, HasSubstr("consent was withdrawn"));
  // At later steps the kernel may hold the last byte; only the peer can distinguish that from sent.
  if (GetParam().step < Step::kFirstByte) {
    EXPECT_FALSE(log->front().can_withdraw) << "none of it has left: its bytes are deleted";
  }
}

std::vector<Withdrawal> AllWithdrawals() {
  std::vector<Withdrawal> all;
  for (const Step step : {Step::kTcpConnect, Step::kConnectAnswer, Step::kHandshake,
                          Step::kFirstByte, Step::kMiddle}) {
    for (const settings::Mode mode : {settings::Mode::kOff, settings::Mode::kLocal})
      all.push_back({step, mode});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(EveryStep, OffWhileSendingTest, ::testing::ValuesIn(AllWithdrawals()),
                         [](const auto& row) {
                           return fmt::format("{}At{}", settings::Name(row.param.to),
                                              static_cast<int>(row.param.step));
                         });

TEST_F(OffTest, TheAdministratorsProhibitionEndsAnUploadThatIsHeld) {
  for (const Step step : {Step::kConnectAnswer, Step::kMiddle}) {
    HoldingProxy proxy(step);
    Agent agent = AgentWithABatch(proxy.port());
    std::thread upload([&agent] { EXPECT_TRUE(agent.Upload(UploadWish::kEverythingNow)); });
    proxy.WaitUntilHeld();
    ASSERT_TRUE(WriteFileAtomically(paths_.system_file, "[consent]\npermit = false\n", 0644));
    upload.join();
    proxy.Release();
    EXPECT_EQ(server_->requests(), 0U);
    std::filesystem::remove_all(paths_.state_dir);
    std::filesystem::remove(paths_.system_file);
  }
}

TEST_F(OffTest, LogsBatchesThatHadLeftBeforeAsSent) {
  HoldingProxy proxy(Step::kAnswer);
  Agent agent = AgentWithABatch(proxy.port());
  std::thread upload([&agent] { EXPECT_TRUE(agent.Upload(UploadWish::kEverythingNow)); });
  proxy.WaitUntilHeld();
  Agent other = OpenAgent();
  EXPECT_TRUE(other.SetMode(settings::Mode::kOff));
  EXPECT_FALSE(IsUploading());
  upload.join();
  proxy.Release();
  EXPECT_EQ(server_->bodies().size(), 1U);
  const auto log = other.Log();
  ASSERT_EQ(log->size(), 1U);
  EXPECT_EQ(log->front().state, spool::SpoolState::kDropped);
  EXPECT_THAT(log->front().reason, HasSubstr("it had left before, and may have arrived"));
  EXPECT_TRUE(log->front().can_withdraw);
}

TEST_F(OffTest, AnAnswerThatComesDuringItIsHeard) {
  HoldingProxy proxy(Step::kAnswer);
  Agent agent = AgentWithABatch(proxy.port());
  std::thread upload([&agent] { EXPECT_TRUE(agent.Upload(UploadWish::kEverythingNow)); });
  proxy.WaitUntilHeld();
  std::thread release([&] {
    EXPECT_TRUE(testing::WaitUntil([&] {
      const auto consent = settings::LoadConsent(paths_.consent_file());
      return consent && consent->mode == settings::Mode::kOff;
    }));
    proxy.Release();
  });
  Agent other = OpenAgent();
  EXPECT_TRUE(other.SetMode(settings::Mode::kOff));
  upload.join();
  // The proxy ends when the connection is closed, which the agent keeps open.
  agent = OpenAgent();
  release.join();
  EXPECT_EQ(server_->bodies().size(), 1U);
  const auto log = other.Log();
  ASSERT_EQ(log->size(), 1U);
  EXPECT_TRUE(log->front().can_withdraw);
  EXPECT_EQ(log->front().state, spool::SpoolState::kSent);
}

TEST_F(OffTest, ItWaitsForAnotherProcessThatUploads) {
  WriteConfig();
  Agent agent = OpenAgent(settings::Mode::kOn);
  Measure(agent);
  std::optional<upload::UploadLock> uploading = *upload::UploadLock::Take(paths_, milliseconds(0));
  ASSERT_TRUE(uploading);
  std::mutex mutex;
  std::condition_variable changed;
  bool returned = false;
  std::thread off([&] {
    EXPECT_TRUE(agent.SetMode(settings::Mode::kOff));
    const std::lock_guard lock(mutex);
    returned = true;
    changed.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    // Gives a broken build, in which it returns, time to do so.
    changed.wait_for(lock, std::chrono::seconds(1), [&] { return returned; });
    EXPECT_FALSE(returned);
  }
  uploading.reset();
  off.join();
  EXPECT_EQ(agent.GetStatus()->outbox.pending_rows, 0U);
}

}  // namespace
}  // namespace fieldcost::volunteer

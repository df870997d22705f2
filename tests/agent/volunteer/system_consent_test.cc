// The administrator's prohibition takes precedence over the user's decision.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "agent/runs/policy_writer.h"
#include "agent/settings/system_policy.h"
#include "common/shm/policy_file.h"
#include "tests/agent/volunteer/agent_fixture.h"

namespace fieldcost::volunteer {
namespace {

using ::testing::HasSubstr;

class SystemConsentTest : public AgentFixture {
 protected:
  void SetUp() override {
    StartServer();
    WriteConfig();
  }

  void Permit(bool permit) {
    const std::string text = permit ? "true" : "false";
    ASSERT_TRUE(
        WriteFileAtomically(paths_.system_file, "[consent]\npermit = " + text + "\n", 0644));
  }

  bool PolicySaysMeasure() const {
    const auto bytes = ReadFile(paths_.policy_file(), runs::kMaxPolicyBytes);
    shm::PolicyHeader header{};
    EXPECT_TRUE(bytes && bytes->size() >= sizeof header);
    std::memcpy(&header, bytes->data(), sizeof header);
    return header.collection_enabled != 0;
  }
};

TEST_F(SystemConsentTest, RefusesToOptInWhereItIsForbidden) {
  Permit(false);
  Agent agent = OpenAgent();
  const auto before = Listing();
  for (const settings::Mode mode : {settings::Mode::kLocal, settings::Mode::kOn}) {
    const Status status = agent.SetMode(mode);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kPermissionDenied);
    EXPECT_THAT(status.error().message, HasSubstr(paths_.system_file.string()));
  }
  EXPECT_TRUE(agent.SetMode(settings::Mode::kOff));
  EXPECT_EQ(Listing(), before);
  EXPECT_TRUE(agent.GetStatus()->forbidden);
  Permit(true);
  EXPECT_TRUE(agent.SetMode(settings::Mode::kOn));
  EXPECT_FALSE(agent.GetStatus()->forbidden);
}

TEST_F(SystemConsentTest, MeasuresCountsAndSendsNothingWhileForbidden) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  WriteRun("a", {3, 7});
  ASSERT_TRUE(agent.Harvest());
  ASSERT_TRUE(PolicySaysMeasure());
  Permit(false);
  ASSERT_TRUE(agent.WritePolicy());
  EXPECT_FALSE(PolicySaysMeasure());
  WriteRun("b", {100});
  ASSERT_TRUE(agent.Harvest());
  EXPECT_EQ(Sum(*agent.LocalRows()), HistogramOf({3, 7}));
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  EXPECT_EQ(server_->requests(), 0U);
  EXPECT_FALSE(agent.Preview()->has_value());
  const auto status = agent.GetStatus();
  EXPECT_EQ(status->consent.mode, settings::Mode::kOn) << "the user's decision stands";
  EXPECT_TRUE(status->forbidden);
  EXPECT_EQ(status->measuring.policy_problem, "");
  Permit(true);
  ASSERT_TRUE(agent.WritePolicy());
  EXPECT_TRUE(PolicySaysMeasure());
  ASSERT_TRUE(agent.Upload(UploadWish::kEverythingNow));
  EXPECT_EQ(server_->Calls(stats::Metric::kWallTime), 2U);
}

}  // namespace
}  // namespace fieldcost::volunteer

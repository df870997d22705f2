// A data directory as the version before agent weights, retention and probation left it: golden_v2/
// was made by that program over HTTPS (three agents, two batches each, one publication), then
// ended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "common/base/file.h"
#include "common/wire/limits.h"
#include "tests/aggregator/ingest/sender.h"
#include "tests/aggregator/service/service_fixture.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint32_t kGoldenWeek = 2966;
constexpr unsigned kAgents = 3;
constexpr unsigned kBatches = 2;
// What the agents were told: receipts of agent a, sequence s at [a][s - 1].
constexpr const char* kReceipts[kAgents][kBatches] = {
    {"0100c4382c527318e24df66ae18066f55f550409945841c26afae337d05cf086403f",
     "01004bd48c8047d438083ef70967e50e4a563b8484597c12186716a24cc9e62318ab"},
    {"010077a450b44c8e6fb4ea44121634cdfd90c816be73e7687c9cb8f981bd6b638452",
     "01006710b817ad6aa94ca0015f88284b24974db1a2f0ddf7fba8c6be4599704f0e88"},
    {"0100c56950e40d2dfcd6ad20de9fabc008acca2eb94e529ed5a70e84a3b33f3fc415",
     "01008033d2ba2bea174718be07db3588944485e0e02e1e7d142be73ef80139e467ff"}};

class UpgradeTest : public ServiceTest {
 protected:
  void SetUp() override {
    ingest::SetTestEpoch(wire::Epoch(1));
    const std::filesystem::path data = dir_.path() / "data";
    std::filesystem::copy(std::filesystem::path(FIELDCOST_TEST_DATA) / "golden_v2", data,
                          std::filesystem::copy_options::recursive);
    for (const auto& key : std::filesystem::directory_iterator(data / "keys")) {
      ASSERT_EQ(::chmod(key.path().c_str(), 0600), 0);
    }
  }
  void TearDown() override { ingest::SetTestEpoch(std::nullopt); }
  static crypto::PrivateKey Agent(unsigned agent) {
    return crypto::PrivateKey::FromSeed(std::string(32, static_cast<char>('a' + agent)));
  }
  static std::string Body(unsigned agent, unsigned sequence) {
    const http::Request request = ingest::SignedRequest(
        Agent(agent), sequence, ingest::TestContent(3 + 2 * agent + sequence, kGoldenWeek));
    return ingest::OfVersion(request.body, wire::kOldBatchFormatVersion);
  }
};

TEST_F(UpgradeTest, ItIsVerifiedBackedUpRestoredAndServedWithItsVersionsGoingOn) {
  // All but the engine's files.
  const auto verify = [&] {
    const std::string text = testing::RunProcess(Command({"verify"})).output;
    return text.substr(0, text.find(" files="));
  };
  const std::string verified = verify();
  EXPECT_THAT(verified, StartsWith("the store is good: "));
  EXPECT_THAT(verified, HasSubstr(" sequence=6 batches=6 "));
  const std::string backups = (dir_.path() / "backups").string();
  EXPECT_EQ(testing::RunProcess(Command({"backup", "--to", backups})).exit_status, 0);
  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_EQ(DownloadSnapshot().version, 2U);
  EXPECT_FALSE(Download().empty());
  Stop();
  std::filesystem::rename(dir_.path() / "data", dir_.path() / "lost");
  const auto restored = testing::RunProcess(Command({"restore", "--from", backups}));
  EXPECT_EQ(restored.exit_status, 0) << restored.errors;
  EXPECT_EQ(verify(), verified);
}

TEST_F(UpgradeTest, EveryBatchCanBeWithdrawnWithTheReceiptOfThatTime) {
  ASSERT_NO_FATAL_FAILURE(Start());
  for (unsigned agent = 0; agent < kAgents; ++agent) {
    for (unsigned sequence = kBatches; sequence > 0; --sequence) {
      const http::Response answer = MustSend(ingest::WithdrawalRequest(
          Agent(agent), sequence, Body(agent, sequence), kReceipts[agent][sequence - 1]));
      EXPECT_EQ(answer.status, 200) << answer.body;
      EXPECT_THAT(answer.body, HasSubstr(std::to_string(3 + 2 * agent + sequence)));
    }
  }
  Stop();
  EXPECT_THAT(testing::RunProcess(Command({"verify"})).output,
              HasSubstr(" sequence=12 batches=0 rows=0 contributions=0 held_batches=0 invalid=0"));
}

}  // namespace
}  // namespace fieldcost::aggregator

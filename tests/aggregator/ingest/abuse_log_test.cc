// The log of misbehaving agents: its content, and the data that it must not contain.
#include "aggregator/ingest/abuse_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aggregator/ingest/ingest_limits.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "tests/aggregator/ingest/trust_fixture.h"

namespace fieldcost::ingest {
namespace {

using stats::Metric;
using ::testing::HasSubstr;

constexpr std::uint32_t kWeek = kTrustWeek;
using AbuseLogTest = TrustTest;

// Returns the agent names in a log, in order.
std::vector<std::string> AgentsIn(const std::string& log) {
  std::vector<std::string> agents;
  for (std::size_t at = 0; (at = log.find("agent=", at)) != std::string::npos; ++at) {
    agents.push_back(log.substr(at + 6, 16));
  }
  return agents;
}

TEST_F(AbuseLogTest, ItNamesAnAgentForADayAndNotTooOften) {
  AbuseLog log(AbuseNames::InMemory(clock_.Now()));
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

TEST_F(AbuseLogTest, LogAndDataDoNotIdentifyTheAgentOrTheRefusedContent) {
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
  EXPECT_TRUE(ingest_->Revoke({.agent = other_.public_key().Hex()}).has_value());
  EXPECT_EQ(Send(other_, 2, content).status, 403);
  // Held batches are stored as received; rows of an agent that counts can be found on disk.
  const auto honest = crypto::PrivateKey::FromSeed(std::string(32, 'h'));
  for (std::uint64_t sequence = 1; sequence <= 2; ++sequence) {
    wire::BatchContent good = TestContent(1, kWeek);
    good.rows[0].api.symbol = "canary_accepted" + std::to_string(sequence);
    EXPECT_EQ(Send(honest, sequence, good).status, 200);
  }
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
    not_in_log.push_back(HexEncode(id).substr(0, 16));
    not_in_log.push_back(key->public_key().Hex().substr(0, 16));
  }
  for (const std::string& secret : not_in_log) EXPECT_EQ(log.find(secret), std::string::npos);
  // Check files on disk only after closing: an open database may remove old files at any time.
  ingest_.reset();
  store_.reset();
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

// How the agent handles each possible response of a server, and how it enrols.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "agent/upload/answer_action.h"
#include "tests/agent/volunteer/agent_fixture.h"

namespace fieldcost::volunteer {
namespace {

using ::testing::HasSubstr;

class UploadAnswersTest : public AgentFixture {
 protected:
  void SetUp() override {
    StartServer();
    WriteConfig();
  }
};

// The table in README.md.
const std::set<int> kSaysNothingOfTheBatch = {404, 405, 407, 408, 421, 425, 426, 429};

TEST_F(UploadAnswersTest, EachStatusHasItsDocumentedMeaning) {
  for (int status = 100; status < 600; ++status) {
    const upload::AnswerAction expected =
        status == 200 ? upload::AnswerAction::kAccept
        : status / 100 == 4 && !kSaysNothingOfTheBatch.contains(status)
            ? upload::AnswerAction::kQuarantine
            : upload::AnswerAction::kRetryLater;
    EXPECT_EQ(upload::ActionFor(status), expected) << status;
  }
}

TEST_F(UploadAnswersTest, NoStatusLosesABatchOrSendsItTwice) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  Measure(agent);
  std::uint64_t quarantined = 0;
  // 1xx responses are not final; the client skips them.
  for (int status = 200; status < 600; ++status) {
    server_->Script({.status = status, .headers = {{"Location", server_->url()}}, .body = "no"});
    const std::uint64_t before = server_->requests();
    const auto report = agent.Upload(UploadWish::kEverythingNow);
    ASSERT_TRUE(report) << status << report.error().message;
    EXPECT_EQ(server_->requests(), before + 1) << status << ": not repeated, not redirected";
    EXPECT_EQ(report->batches_sent, 0U) << status;
    if (upload::ActionFor(status) == upload::AnswerAction::kQuarantine) {
      EXPECT_FALSE(report->stopped_by) << status;
      EXPECT_EQ(report->batches_quarantined, 1U) << status;
      EXPECT_EQ(agent.Log()->back().state, spool::SpoolState::kQuarantined);
      EXPECT_THAT(agent.Log()->back().reason, HasSubstr(std::to_string(status)));
      ++quarantined;
      Measure(agent);
    } else {
      ASSERT_TRUE(report->stopped_by) << status;
      EXPECT_EQ(report->batches_left, 1U) << status;
      if (status / 100 == 3) {
        EXPECT_THAT(report->stopped_by->message, HasSubstr("redirects are not followed"));
      }
    }
  }
  EXPECT_EQ(agent.GetStatus()->outbox.quarantined_batches, quarantined);
  EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
  EXPECT_EQ(server_->Calls(stats::Metric::kWallTime), 1U);
}

TEST_F(UploadAnswersTest, LogStatesWhatTheServiceHolds) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  for (const bool held : {true, false}) {
    Measure(agent);
    wire::BatchAnswer answer;
    answer.accepted_rows = 1;
    answer.held = held;
    server_->Script({.body = wire::EncodeAnswer(answer)});
    ASSERT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
  }
  const auto log = *agent.Log();
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].state, spool::SpoolState::kSent);
  EXPECT_THAT(log[0].reason, HasSubstr("held separately by the service"));
  EXPECT_EQ(log[1].reason, "");
}

TEST_F(UploadAnswersTest, AnAgentEnrolsOnceAndOnlyWhereItIsAskedTo) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  ASSERT_TRUE(agent.SetEnrolmentToken("  let-me-in\n"));
  EXPECT_EQ(std::filesystem::status(paths_.state_dir / "enrolment_token").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  Measure(agent);
  ASSERT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
  EXPECT_EQ(server_->requests(), 1U) << "without a request";
  server_->RequireToken("let-me-in");
  for (int i = 0; i < 2; ++i) {
    Measure(agent);
    const auto report = agent.Upload(UploadWish::kEverythingNow);
    EXPECT_FALSE(report->stopped_by) << report->stopped_by->message;
    EXPECT_EQ(report->batches_sent, 1U);
  }
  EXPECT_EQ(server_->enrolments(), 1U);
  EXPECT_EQ(server_->requests(), 1U + 3U + 1U);
  EXPECT_EQ(server_->bad_requests(), 0U);
}

TEST_F(UploadAnswersTest, SendsNothingIfSwitchedOffDuringTheEnrolment) {
  server_->RequireToken("let-me-in");
  Agent agent = OpenAgent(settings::Mode::kOn);
  ASSERT_TRUE(agent.SetEnrolmentToken("let-me-in"));
  Measure(agent);
  server_->WhileEnrolling(
      [this] { EXPECT_TRUE(settings::WithdrawConsent(paths_.consent_file(), clock_.Now())); });
  const auto report = agent.Upload(UploadWish::kEverythingNow);
  ASSERT_TRUE(report && report->stopped_by);
  EXPECT_EQ(server_->enrolments(), 1U);
  EXPECT_EQ(server_->requests(), 2U) << "the batch that was answered with 401, and the enrolment";
  EXPECT_TRUE(server_->bodies().empty());
}

TEST_F(UploadAnswersTest, ARefusedEnrolmentExplainsWhatToDoAndTheBatchWaits) {
  server_->RequireToken("let-me-in");
  Agent agent = OpenAgent(settings::Mode::kOn);
  Measure(agent);
  for (const char* token : {"", "wrong"}) {
    if (*token != '\0') {
      ASSERT_TRUE(agent.SetEnrolmentToken(token));
    }
    const auto report = agent.Upload(UploadWish::kEverythingNow);
    ASSERT_TRUE(report && report->stopped_by);
    EXPECT_EQ(report->stopped_by->code, ErrorCode::kPermissionDenied);
    EXPECT_THAT(report->stopped_by->message, HasSubstr("fieldcost agent enrol --token-file"));
    EXPECT_EQ(report->batches_left, 1U);
    EXPECT_EQ(report->batches_quarantined, 0U);
    EXPECT_EQ(agent.GetStatus()->upload.upload_problem, report->stopped_by->message);
  }
  EXPECT_EQ(agent.GetStatus()->upload.failed_uploads, 2U);
  ASSERT_TRUE(agent.SetEnrolmentToken("let-me-in"));
  EXPECT_EQ(agent.Upload(UploadWish::kEverythingNow)->batches_sent, 1U);
  EXPECT_EQ(agent.GetStatus()->upload.failed_uploads, 0U);
  EXPECT_EQ(agent.GetStatus()->upload.upload_problem, "");
}

TEST_F(UploadAnswersTest, StopsEnrollingAtAServerThatAlwaysRequestsIt) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  Measure(agent);
  const testing::AggregatorStandIn::Scripted asks{
      .status = 401, .headers = {{"Fieldcost-Enrolment", "required"}}, .body = {}};
  server_->Script(asks);
  server_->Script({.status = 200, .headers = {}, .body = "{\"enrolled\":true}"});
  server_->Script(asks);
  const auto report = agent.Upload(UploadWish::kEverythingNow);
  ASSERT_TRUE(report && report->stopped_by);
  EXPECT_EQ(server_->requests(), 3U);
  EXPECT_EQ(report->batches_left, 1U);
}

TEST_F(UploadAnswersTest, TokensThatNoHeaderCanCarryAreRefused) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  for (const std::string& token :
       {std::string(), std::string(" \n"), std::string("two words"), std::string("new\nline"),
        std::string("\x7f"), std::string("\xc3\xa4"), std::string(257, 'x')}) {
    const Status status = agent.SetEnrolmentToken(token);
    ASSERT_FALSE(status) << token;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(std::filesystem::exists(paths_.state_dir / "enrolment_token"));
  EXPECT_TRUE(agent.SetEnrolmentToken(std::string(256, 'x')));
}

TEST_F(UploadAnswersTest, AProxyIsUsedForUploadsAndNamedWhenItIsAway) {
  Agent agent = OpenAgent(settings::Mode::kOn);
  WriteRun("a", {3});
  ASSERT_TRUE(agent.Harvest());
  // A port that was free a moment ago.
  std::uint16_t port = 0;
  {
    const testing::TempDir directory;
    port = static_cast<std::uint16_t>(std::stoi(
        testing::AggregatorStandIn(directory.path()).url().substr(sizeof("https://localhost"))));
  }
  const std::string proxy = "127.0.0.1:" + std::to_string(port);
  ASSERT_TRUE(WriteFileAtomically(paths_.config_file,
                                  "[aggregator]\nurl = \"" + server_->url() + "\"\nca_file = \"" +
                                      server_->certificates().ca.string() +
                                      "\"\nproxy = \"http://" + proxy + "\"\n",
                                  0600));
  Agent through_proxy = OpenAgent();
  const auto report = through_proxy.Upload(UploadWish::kEverythingNow);
  ASSERT_TRUE(report && report->stopped_by);
  EXPECT_THAT(report->stopped_by->message, HasSubstr("proxy " + proxy));
  EXPECT_EQ(report->batches_left, 1U);
  EXPECT_EQ(server_->requests(), 0U);
}

TEST(UploadPolicyTest, AWishForLaterIsReadInSeconds) {
  EXPECT_EQ(http::ParseRetryAfter("120"), std::chrono::seconds(120));
  EXPECT_EQ(http::ParseRetryAfter("99999999999"), std::chrono::hours(24));
  EXPECT_EQ(http::ParseRetryAfter("soon"), std::nullopt);
  EXPECT_EQ(http::ParseRetryAfter("-1"), std::nullopt);
  EXPECT_EQ(http::ParseRetryAfter(""), std::nullopt);
}

}  // namespace
}  // namespace fieldcost::volunteer

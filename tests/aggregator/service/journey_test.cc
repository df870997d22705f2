// An agent's whole life with a service: it enrols, sends, keeps its receipts and withdraws
// everything.
#include "common/base/file.h"
#include "common/wire/policy.h"
#include "common/wire/wire_requests.h"
#include "tests/aggregator/service/service_fixture.h"

namespace fieldcost::aggregator {
namespace {

using ingest::EnrolmentRequest;
using ingest::SignedRequest;
using ingest::WithdrawalRequest;
using ::testing::HasSubstr;

class JourneyTest : public ServiceTest {
 protected:
  void UseTokens(const std::string& data_dir) {
    EXPECT_TRUE(WriteFileAtomically(dir_.path() / "token", "let-me-in\n", 0600).has_value());
    WriteConfig(
        Config("port = 0", data_dir, "[enrolment]\nmode = \"token\"\ntoken_files = [\"token\"]\n"));
  }

  // Publishes again. Fragments are named by a hash of their contents.
  std::vector<wire::FragmentReference> Publish() {
    server_->Signal(SIGUSR1);
    EXPECT_TRUE(server_->WaitForLine("published snapshot"));
    return DownloadSnapshot().fragments;
  }

  std::string Body(unsigned rows, unsigned salt) const {
    wire::BatchContent content = ingest::TestContent(rows, WeekOf(SystemClock().Now()));
    for (wire::BatchRow& row : content.rows) {
      row.histogram.Add(salt);
      row.first_contribution = salt <= 2;  // each agent's first contribution
    }
    content.rows.push_back(content.rows[0]);  // a duplicate, which is refused
    return *wire::EncodeBatch(content);
  }

  void MustSendBody(const crypto::PrivateKey& key, std::uint64_t sequence, const std::string& body,
                    std::string* receipt = nullptr) {
    const http::Response response = MustSend(SignedRequest(key, sequence, body));
    ASSERT_EQ(response.status, 200) << response.body;
    const auto answer = wire::DecodeAnswer(response.body);
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->rejected_rows, 1U);
    if (receipt != nullptr) *receipt = answer->receipt;
  }

  const crypto::PrivateKey other_ = crypto::PrivateKey::FromSeed(std::string(32, 'o'));
};

TEST_F(JourneyTest, AfterWithdrawingTheServiceIsAsIfTheAgentHadNeverBeenThere) {
  UseTokens("data");
  ASSERT_NO_FATAL_FAILURE(Start());
  const http::Response refused = MustSend(SignedRequest(key_, 1, Body(5, 1)));
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(http::Find(refused.headers, wire::kEnrolmentHeader), wire::kEnrolmentRequired);
  EXPECT_EQ(MustSend(EnrolmentRequest(key_, "guess")).status, 403);
  for (const crypto::PrivateKey* key : {&key_, &other_}) {
    EXPECT_EQ(MustSend(EnrolmentRequest(*key, "let-me-in")).body, R"({"enrolled":true})");
  }
  std::string receipt;
  ASSERT_NO_FATAL_FAILURE(MustSendBody(key_, 1, Body(5, 1), &receipt));
  ASSERT_NO_FATAL_FAILURE(MustSendBody(other_, 1, Body(3, 2)));
  ASSERT_NO_FATAL_FAILURE(MustSendBody(key_, 2, Body(4, 3)));
  const std::vector<wire::FragmentReference> with_it = Publish();
  Stop();

  ASSERT_NO_FATAL_FAILURE(Start());  // the enrolment and the receipt secret are still there
  ASSERT_NO_FATAL_FAILURE(MustSendBody(key_, 3, Body(2, 4)));
  // A receipt of maximum size, which refuses all rows, still reaches the code that verifies it.
  constexpr std::size_t kMostReceiptDigits = 2 * (wire::kMaxBatchRows / 8 + 32);
  const http::Response forged = MustSend(
      WithdrawalRequest(key_, 1, Body(5, 1), "0101" + std::string(kMostReceiptDigits, 'f')));
  EXPECT_EQ(forged.status, 403) << forged.body;
  EXPECT_THAT(forged.body, HasSubstr("receipt"));
  const http::Response first = MustSend(WithdrawalRequest(key_, 1, Body(5, 1), receipt));
  EXPECT_EQ(first.body, R"({"withdrawn_rows":5})");
  EXPECT_EQ(MustSend(WithdrawalRequest(key_, 2, Body(4, 3), "")).body, R"({"withdrawn_rows":4})");
  EXPECT_EQ(MustSend(WithdrawalRequest(key_, 3, Body(2, 4), "")).body, R"({"withdrawn_rows":2})");
  EXPECT_EQ(MustSend(WithdrawalRequest(key_, 4, Body(9, 5), "")).body, R"({"withdrawn_rows":0})");
  client_.reset();
  server_->Signal(SIGKILL);
  EXPECT_EQ(server_->Wait().signal, SIGKILL);

  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_EQ(MustSend(WithdrawalRequest(key_, 1, Body(5, 1), receipt)).body, first.body);
  // Duplicates that arrive late.
  EXPECT_EQ(MustSend(SignedRequest(key_, 1, Body(5, 1))).status, 200);
  EXPECT_EQ(MustSend(SignedRequest(key_, 4, Body(9, 5))).status, 200);
  const std::vector<wire::FragmentReference> without_it = Publish();
  EXPECT_NE(without_it, with_it);
  Stop();
  EXPECT_THAT(testing::RunProcess(Command({"verify"})).output, HasSubstr(" batches=1 rows=3 "));

  UseTokens("reference");
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_EQ(MustSend(EnrolmentRequest(other_, "let-me-in")).status, 200);
  ASSERT_NO_FATAL_FAILURE(MustSendBody(other_, 1, Body(3, 2)));
  EXPECT_EQ(Publish(), without_it);
  Stop();
}

TEST_F(JourneyTest, ARevokedAgentsBatchesAreRefusedFromTheNextStartOn) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(MustSendBody(key_, 1, Body(2, 1)));
  ExpectRefusal(Command({"revoke", "--agent", key_.public_key().Hex()}), ErrorCode::kAlreadyExists,
                "in use");
  Stop();
  ExpectRefusal(Command({"revoke", "--agent", "00ff"}), ErrorCode::kInvalidArgument,
                "public key (64)");
  const testing::ProcessResult revoked =
      testing::RunProcess(Command({"revoke", "--agent", key_.public_key().Hex()}));
  EXPECT_EQ(revoked.exit_status, 0) << revoked.errors;
  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_EQ(MustSend(SignedRequest(key_, 2, Body(2, 1))).status, 403);
  EXPECT_EQ(MustSend(WithdrawalRequest(key_, 1, Body(2, 1), "")).status, 200);
  ASSERT_NO_FATAL_FAILURE(MustSendBody(other_, 1, Body(2, 1)));
  Stop();
}

TEST_F(JourneyTest, RunningServerServesANewlySignedPolicyAtOnce) {
  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_EQ(MustGet(wire::kPolicyPath).status, 404);
  std::ofstream(dir_.path() / "policy.toml") << "[policy]\nmax_programs = 3\n";
  const testing::ProcessResult done = testing::RunProcess(
      Command({"policy", "sign", (dir_.path() / "policy.toml").string(), "--json"}));
  ASSERT_EQ(done.exit_status, 0) << done.errors;
  const http::Response response = MustGet(wire::kPolicyPath);
  EXPECT_EQ(response.status, 200);
  const auto root = wire::VerifyPinnedRoot(MustGet(wire::kRootPath).body);
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(wire::VerifyPolicy(response.body, *root).value().max_programs, 3U);
  Stop();
}

TEST_F(JourneyTest, AnEnrolmentThatCouldNotWorkIsNoticedAtTheStart) {
  const auto refused = [this](const std::string& enrolment, ErrorCode code,
                              const std::string& message) {
    SCOPED_TRACE(message);
    WriteConfig(Config("port = 0", "data", "[enrolment]\n" + enrolment));
    ExpectRefusal(Command(), code, message);
  };
  refused("mode = \"closed\"\n", ErrorCode::kInvalidArgument, "enrolment.mode");
  refused("mode = \"token\"\ntoken_files = [\"absent\"]\n", ErrorCode::kNotFound, "absent");
  ASSERT_TRUE(WriteFileAtomically(dir_.path() / "token", "open\n", 0644).has_value());
  refused("mode = \"token\"\ntoken_files = [\"token\"]\n", ErrorCode::kPermissionDenied,
          "gives group or others access");
}

TEST_F(JourneyTest, SecretsOfOthersAreRefused) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Stop();
  const std::filesystem::path keys = dir_.path() / "data" / "keys";
  for (const char* const name :
       {"pseudonym.secret", "receipt.secret", "timestamp.key", "snapshot.key"}) {
    SCOPED_TRACE(name);
    for (const mode_t mode : {0640U, 0604U, 0620U, 0602U}) {
      ASSERT_EQ(::chmod((keys / name).c_str(), mode), 0);
      ExpectRefusal(Command(), ErrorCode::kPermissionDenied, std::string(name) + ": mode 06");
    }
    ASSERT_EQ(::chmod((keys / name).c_str(), 0600), 0);
  }
  ASSERT_NO_FATAL_FAILURE(Start());
  Stop();
}

TEST_F(JourneyTest, ALostReceiptSecretIsNoticed) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Stop();
  ASSERT_TRUE(std::filesystem::remove(dir_.path() / "data" / "keys" / "receipt.secret"));
  ExpectRefusal(Command(), ErrorCode::kCorrupt, "receipt.secret is missing, but ");
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "data" / "keys" / "receipt.secret"));
}

}  // namespace
}  // namespace fieldcost::aggregator

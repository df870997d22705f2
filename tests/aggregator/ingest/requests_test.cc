// Withdrawals and enrolments, from request to response.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <memory>

#include "aggregator/ingest/ingest.h"
#include "aggregator/ingest/server_secret.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/wire/wire_requests.h"
#include "tests/aggregator/ingest/sender.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::ingest {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kWeek = 2960;

class RequestsTest : public ::testing::Test {
 protected:
  RequestsTest()
      : store_(std::move(
            *store::Store::Open({.data_dir = dir_.path() / "data", .checkpoint_seconds = 0}))) {
    SetTestEpoch(EpochOfWeek(kWeek));
    Start(EnrolmentMode::kOpen, {});
  }

  void Start(EnrolmentMode mode, const std::vector<std::filesystem::path>& token_files) {
    ingest_ = std::make_unique<Ingest>(*store_, clock_,
                                       *Pseudonyms::LoadOrCreate(dir_.path() / "pseudonyms"),
                                       *Receipts::LoadOrCreate(dir_.path() / "receipts"),
                                       std::move(*Admission::Load(mode, token_files, *store_)),
                                       IngestOptions{.names = {kTestHost}, .roots = {kTestRoot}});
  }

  std::filesystem::path TokenFile(const std::string& text, mode_t mode = 0600) {
    const std::filesystem::path path = dir_.path() / ("token" + std::to_string(++tokens_));
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }

  // Sends a batch of `rows` rows and returns its receipt.
  std::string MustSend(std::uint64_t sequence, const std::string& body) {
    const http::Response response = ingest_->Handle(SignedRequest(key_, sequence, body));
    EXPECT_EQ(response.status, 200) << response.body;
    return wire::DecodeAnswer(response.body).value().receipt;
  }

  std::uint32_t MustWithdraw(std::uint64_t sequence, const std::string& body,
                             const std::string& receipt) {
    const http::Response response =
        ingest_->Handle(WithdrawalRequest(key_, sequence, body, receipt));
    EXPECT_EQ(response.status, 200) << response.body;
    return wire::DecodeWithdrawalAnswer(response.body).value().withdrawn_rows;
  }

  std::map<stats::RowKey, store::CompactRow> Rows() {
    std::map<stats::RowKey, store::CompactRow> rows;
    const auto snapshot = store_->TakeSnapshot();
    EXPECT_TRUE(snapshot
                    ->ForEach([&](const stats::RowKey& key, const store::CompactRow& row) {
                      rows[key] = row;
                      return Status();
                    })
                    .has_value());
    totals_ = snapshot->totals();
    return rows;
  }

  // A batch with one row of a week long ago, one duplicate row, and two valid ones.
  static std::string MixedBody() {
    wire::BatchContent content = TestContent(3, kWeek);
    content.rows[1].week = 1;
    content.rows.push_back(content.rows[0]);
    return *wire::EncodeBatch(content);
  }

  const testing::TempDir dir_;
  testing::FakeClock clock_{WallTime(std::chrono::days(7 * kWeek + 3))};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Ingest> ingest_;
  store::Totals totals_;
  int tokens_ = 0;
  const crypto::PrivateKey key_ = crypto::PrivateKey::FromSeed(std::string(32, 'k'));
  const crypto::PrivateKey other_ = crypto::PrivateKey::FromSeed(std::string(32, 'o'));
};

TEST_F(RequestsTest, SubtractsExactlyTheAcceptedRowsUnderAnyClock) {
  ASSERT_EQ(ingest_->Handle(SignedRequest(other_, 1, TestContent(2, kWeek))).status, 200);
  const auto before = Rows();
  const store::Totals totals = totals_;
  const std::string receipt = MustSend(1, MixedBody());
  EXPECT_NE(Rows(), before);
  clock_.Advance(std::chrono::weeks(200));  // its rows would no longer be accepted
  EXPECT_EQ(MustWithdraw(1, MixedBody(), receipt), 2U);
  EXPECT_EQ(Rows(), before);
  EXPECT_EQ(totals_, totals);
  EXPECT_EQ(MustWithdraw(1, MixedBody(), receipt), 2U);
  EXPECT_EQ(Rows(), before);
  EXPECT_EQ(ingest_->counters().withdrawn_batches, 1U);
  EXPECT_EQ(ingest_->counters().withdrawn_rows, 2U);
  EXPECT_EQ(ingest_->counters().repeated_withdrawals, 1U);
}

TEST_F(RequestsTest, WithoutAReceiptTheStoredAnswerServesAsLongAsItIsKept) {
  MustSend(1, MixedBody());
  EXPECT_EQ(MustWithdraw(1, MixedBody(), ""), 2U);
  const std::string receipt = MustSend(2, MixedBody());
  wire::BatchContent other = TestContent(1, kWeek);
  other.rows[0].api.symbol = "other";
  MustSend(1000, *wire::EncodeBatch(other));
  const http::Response gone = ingest_->Handle(WithdrawalRequest(key_, 2, MixedBody(), ""));
  EXPECT_EQ(gone.status, 410);
  EXPECT_THAT(gone.body, HasSubstr("too old to be withdrawn without its receipt"));
  EXPECT_EQ(ingest_->counters().not_withdrawable, 1U);
  EXPECT_EQ(MustWithdraw(2, MixedBody(), receipt), 2U);
  EXPECT_EQ(Rows().size(), 1U);
}

TEST_F(RequestsTest, ABatchWithdrawnBeforeItCameAddsNothingLater) {
  EXPECT_EQ(MustWithdraw(1, MixedBody(), ""), 0U);
  const http::Response late = ingest_->Handle(SignedRequest(key_, 1, MixedBody()));
  EXPECT_EQ(late.status, 200);
  const auto answer = wire::DecodeAnswer(late.body);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->accepted_rows, 0U);
  EXPECT_EQ(answer->rejected_rows, 4U);
  EXPECT_THAT(late.body, HasSubstr("withdrawn before it arrived"));
  EXPECT_TRUE(Rows().empty());
  EXPECT_EQ(totals_, store::Totals());
  EXPECT_EQ(MustWithdraw(1, MixedBody(), ""), 0U);
  EXPECT_EQ(ingest_->counters().withdrawn_before_arrival, 1U);
}

TEST_F(RequestsTest, AWithdrawnBatchThatComesAgainGetsItsFirstAnswer) {
  const http::Response first = ingest_->Handle(SignedRequest(key_, 1, MixedBody()));
  MustWithdraw(1, MixedBody(), "");
  EXPECT_EQ(ingest_->Handle(SignedRequest(key_, 1, MixedBody())).body, first.body);
  EXPECT_TRUE(Rows().empty());
}

TEST_F(RequestsTest, EachBadWithdrawalGetsItsStatusAndTakesNothing) {
  const std::string body = MixedBody();
  const std::string other_body = *wire::EncodeBatch(TestContent(1, kWeek));
  const std::string receipt = MustSend(1, body);
  const std::string other_receipt = MustSend(2, other_body);
  const auto before = Rows();
  http::Request unsigned_request = WithdrawalRequest(key_, 1, body, receipt);
  unsigned_request.body = other_body;
  http::Request batch_signature = SignedRequest(key_, 1, body);
  batch_signature.target = wire::kWithdrawalsPath;
  http::Request wrong_type = WithdrawalRequest(key_, 1, body, receipt);
  SetHeader(wrong_type, "Content-Type", "text/plain");
  http::Request get = WithdrawalRequest(key_, 1, body, receipt);
  get.method = "GET";
  http::Request no_sequence = WithdrawalRequest(key_, 1, body, receipt);
  SetHeader(no_sequence, wire::kSequenceHeader, "");
  http::Request as_batch = WithdrawalRequest(key_, 3, body, "");
  as_batch.target = wire::kBatchesPath;
  const std::vector<std::pair<http::Request, int>> cases = {
      {unsigned_request, 401},
      {batch_signature, 401},
      {as_batch, 401},
      {wrong_type, 415},
      {get, 405},
      {no_sequence, 400},
      {WithdrawalRequest(key_, 1, "garbage", receipt), 400},
      {WithdrawalRequest(key_, 1, "garbage", ""), 400},
      {WithdrawalRequest(key_, 1, other_body, receipt), 403},
      {WithdrawalRequest(key_, 1, other_body, ""), 403},
      {WithdrawalRequest(key_, 1, body, other_receipt), 403},
      {WithdrawalRequest(other_, 1, body, receipt), 403},
      {WithdrawalRequest(key_, 3, body, receipt), 403},
      {WithdrawalRequest(key_, 1, body, "00"), 400},
      {WithdrawalRequest(key_, 1, body, "no hex"), 400},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const http::Response response = ingest_->Handle(cases[i].first);
    EXPECT_EQ(response.status, cases[i].second) << "case " << i << ": " << response.body;
  }
  EXPECT_EQ(Rows(), before);
  EXPECT_EQ(totals_.batches, 2U);
  EXPECT_EQ(MustWithdraw(1, body, receipt), 2U);
}

TEST_F(RequestsTest, WhereEveryAgentIsTakenEnrollingIsFineAndChangesNothing) {
  EXPECT_EQ(ingest_->Handle(EnrolmentRequest(key_, "")).body, R"({"enrolled":true})");
  EXPECT_EQ(ingest_->Handle(EnrolmentRequest(key_, "any")).status, 200);
  Start(EnrolmentMode::kToken, {TokenFile("secret\n")});
  EXPECT_EQ(ingest_->Handle(SignedRequest(key_, 1, MixedBody())).status, 401);
}

TEST_F(RequestsTest, WithTokensOnlyEnrolledAgentsBatchesAreTaken) {
  Start(EnrolmentMode::kToken, {TokenFile("first\n"), TokenFile("second")});
  const http::Request batch = SignedRequest(key_, 1, MixedBody());
  const http::Response refused = ingest_->Handle(batch);
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(http::Find(refused.headers, wire::kEnrolmentHeader), wire::kEnrolmentRequired);
  EXPECT_EQ(ingest_->counters().not_enrolled, 1U);
  // Without a valid signature, the response does not reveal that enrolment is required.
  http::Request changed = batch;
  changed.body.back() ^= 1;
  EXPECT_EQ(http::Find(ingest_->Handle(changed).headers, wire::kEnrolmentHeader), "");

  for (const char* token : {"", "third", "firs", "first ", "FIRST"}) {
    EXPECT_EQ(ingest_->Handle(EnrolmentRequest(key_, token)).status, 403) << token;
  }
  EXPECT_EQ(ingest_->counters().bad_token, 5U);
  EXPECT_EQ(ingest_->Handle(batch).status, 401);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ingest_->Handle(EnrolmentRequest(key_, "second")).body, R"({"enrolled":true})");
  }
  EXPECT_EQ(ingest_->Handle(batch).status, 200);
  EXPECT_EQ(ingest_->Handle(SignedRequest(other_, 1, MixedBody())).status, 401);
  // The enrolment persists after the tokens change; each epoch has its own enrolment.
  Start(EnrolmentMode::kToken, {TokenFile("other")});
  EXPECT_EQ(ingest_->Handle(SignedRequest(key_, 2, MixedBody())).status, 200);
}

TEST_F(RequestsTest, WithdrawingNeedsNoEnrolment) {
  const std::string receipt = MustSend(1, MixedBody());
  Start(EnrolmentMode::kToken, {TokenFile("first")});
  EXPECT_EQ(MustWithdraw(1, MixedBody(), receipt), 2U);
}

TEST_F(RequestsTest, UnauthorizedWithdrawalsLeaveTheLedgerUnchanged) {
  Start(EnrolmentMode::kToken, {TokenFile("first")});
  EXPECT_EQ(MustWithdraw(1, MixedBody(), ""), 0U);
  EXPECT_EQ(ingest_->counters().withdrawn_before_arrival, 0U);
  EXPECT_EQ(ingest_->Handle(EnrolmentRequest(key_, "first")).status, 200);
  ASSERT_EQ(ingest_->Handle(SignedRequest(key_, 1, MixedBody())).status, 200);
  EXPECT_EQ(Rows().size(), 2U) << "nothing of the withdrawal was kept";
  EXPECT_EQ(MustWithdraw(2, MixedBody(), ""), 0U);
  EXPECT_EQ(ingest_->counters().withdrawn_before_arrival, 1U) << "this one may still come";

  const Pseudonyms pseudonyms = *Pseudonyms::LoadOrCreate(dir_.path() / "pseudonyms");
  ASSERT_TRUE(store_->Revoke(pseudonyms.IdOf(key_.public_key())).has_value());
  Start(EnrolmentMode::kToken, {TokenFile("first")});
  EXPECT_EQ(MustWithdraw(3, MixedBody(), ""), 0U);
  EXPECT_EQ(ingest_->counters().withdrawn_before_arrival, 0U);
  EXPECT_EQ(MustWithdraw(1, MixedBody(), ""), 2U);
}

// A party that obtains the bytes of a request (the service itself, or a proxy that terminates TLS)
// cannot use them with another service.
TEST_F(RequestsTest, RefusesRequestsSignedForAnotherService) {
  const std::string body = *wire::EncodeBatch(TestContent(2, kWeek));
  const std::vector<http::Request> requests = {SignedRequest(key_, 1, body),
                                               WithdrawalRequest(key_, 1, body, ""),
                                               EnrolmentRequest(key_, "")};
  ingest_->SetNames({"other.example"});
  for (const http::Request& request : requests) {
    const http::Response elsewhere = ingest_->Handle(request);
    EXPECT_EQ(elsewhere.status, 421) << request.target;
    EXPECT_THAT(elsewhere.body, HasSubstr("not the service"));
    http::Request renamed = request;
    SetHeader(renamed, wire::kServiceHeader, wire::ServiceId("other.example", kTestRoot));
    EXPECT_EQ(ingest_->Handle(renamed).status, 401) << request.target << ": it is signed";
    http::Request unnamed = request;
    SetHeader(unnamed, wire::kServiceHeader, "");
    EXPECT_EQ(ingest_->Handle(unnamed).status, 400) << request.target;
  }
  EXPECT_EQ(ingest_->counters().wrong_service, 3U);
  EXPECT_EQ(store_->sequence(), 0U);
  ingest_->SetNames({"other.example", kTestHost});
  for (const http::Request& request : requests) {
    EXPECT_EQ(ingest_->Handle(request).status, 200) << request.target;
  }
}

// Two services may share one host name, for example on two ports.
TEST_F(RequestsTest, RefusesRequestsSignedForAnotherRoot) {
  const std::string body = *wire::EncodeBatch(TestContent(2, kWeek));
  SetTestRoot("another");
  const std::vector<http::Request> requests = {SignedRequest(key_, 1, body),
                                               WithdrawalRequest(key_, 1, body, ""),
                                               EnrolmentRequest(key_, "")};
  SetTestRoot(std::nullopt);
  for (const http::Request& request : requests) {
    const http::Response elsewhere = ingest_->Handle(request);
    EXPECT_EQ(elsewhere.status, 421) << request.target;
    EXPECT_THAT(elsewhere.body, HasSubstr("another service of the name"));
    http::Request renamed = request;
    SetHeader(renamed, wire::kServiceHeader, TestService());
    EXPECT_EQ(ingest_->Handle(renamed).status, 401) << request.target << ": it is signed";
    http::Request without = request;
    SetHeader(without, wire::kServiceHeader, kTestHost);
    EXPECT_EQ(ingest_->Handle(without).status, 400) << request.target;
  }
  EXPECT_EQ(ingest_->counters().wrong_root, 3U);
  EXPECT_EQ(store_->sequence(), 0U);
}

// Agents may pin a root of any age, and may resend an acknowledged batch with a newer root.
TEST_F(RequestsTest, AcceptsRequestsForASuccessorRoot) {
  const std::string body = *wire::EncodeBatch(TestContent(2, kWeek));
  const http::Response first = ingest_->Handle(SignedRequest(key_, 1, body));
  EXPECT_EQ(first.status, 200);
  ingest_->AddRoots({"second"});
  EXPECT_EQ(ingest_->Handle(SignedRequest(key_, 2, body)).status, 200) << "signed before";
  SetTestRoot("second");
  const http::Response again = ingest_->Handle(SignedRequest(key_, 1, body));
  SetTestRoot(std::nullopt);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, first.body) << "counted once";
  EXPECT_EQ(ingest_->counters().replayed_batches, 1U);
}

TEST(ServiceNamesTest, AStarIsOneLabel) {
  const ServiceNames names({"a.example", "*.b.example", "::1"});
  for (const char* name : {"a.example", "x.b.example", "::1"}) EXPECT_TRUE(names.Has(name)) << name;
  for (const char* name : {"", "b.example", ".b.example", "x.y.b.example", "x.a.example", "*.a",
                           "A.example", "a.example.", "127.0.0.1"}) {
    EXPECT_FALSE(names.Has(name)) << name;
  }
  EXPECT_FALSE(ServiceNames({}).Has(""));
}

TEST_F(RequestsTest, EachBadEnrolmentGetsItsStatus) {
  Start(EnrolmentMode::kToken, {TokenFile("first")});
  const http::Request good = EnrolmentRequest(key_, "first");
  http::Request other_token = EnrolmentRequest(key_, "second");
  SetHeader(other_token, wire::kTokenHeader, "first");
  http::Request other_epoch = good;
  SetHeader(other_epoch, wire::kEpochHeader, "2");
  http::Request other_agent = good;
  SetHeader(other_agent, wire::kAgentHeader, other_.public_key().Hex());
  http::Request body = good;
  body.body = "x";
  http::Request no_agent = good;
  SetHeader(no_agent, wire::kAgentHeader, "");
  http::Request get = good;
  get.method = "GET";
  const std::string long_token(wire::kMaxTokenBytes + 1, 'x');
  const std::vector<std::pair<http::Request, int>> cases = {
      {other_token, 401},
      {other_epoch, 401},
      {other_agent, 401},
      {body, 400},
      {no_agent, 400},
      {get, 405},
      {EnrolmentRequest(key_, long_token), 400},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(ingest_->Handle(cases[i].first).status, cases[i].second) << "case " << i;
  }
  EXPECT_EQ(ingest_->Handle(SignedRequest(key_, 1, MixedBody())).status, 401);
  EXPECT_EQ(ingest_->Handle(good).status, 200);
}

TEST_F(RequestsTest, ARevokedAgentMayOnlyWithdraw) {
  const std::string receipt = MustSend(1, MixedBody());
  const Pseudonyms pseudonyms = *Pseudonyms::LoadOrCreate(dir_.path() / "pseudonyms");
  ASSERT_TRUE(store_->Revoke(pseudonyms.IdOf(key_.public_key())).has_value());
  Start(EnrolmentMode::kOpen, {});
  EXPECT_EQ(ingest_->Handle(SignedRequest(key_, 2, MixedBody())).status, 403);
  EXPECT_EQ(ingest_->Handle(EnrolmentRequest(key_, "")).status, 403);
  EXPECT_EQ(ingest_->counters().revoked, 2U);
  EXPECT_EQ(ingest_->Handle(SignedRequest(other_, 1, MixedBody())).status, 200);
  EXPECT_EQ(MustWithdraw(1, MixedBody(), receipt), 2U);
}

TEST_F(RequestsTest, TokenFilesAreForTheirOwnerAndHoldOneToken) {
  const auto code = [&](const std::filesystem::path& path) {
    const auto admission = Admission::Load(EnrolmentMode::kToken, {path}, *store_);
    if (admission) return ErrorCode{};
    EXPECT_THAT(admission.error().message, HasSubstr(path.string()));
    return admission.error().code;
  };
  EXPECT_EQ(code(TokenFile("good\n")), ErrorCode{});
  EXPECT_EQ(code(TokenFile("good\n", 0640)), ErrorCode::kPermissionDenied);
  EXPECT_EQ(code(TokenFile("good\n", 0604)), ErrorCode::kPermissionDenied);
  EXPECT_EQ(code(TokenFile("")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(TokenFile("\n")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(TokenFile("two words")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(TokenFile("two\nlines\n")), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(TokenFile(std::string(wire::kMaxTokenBytes, 'x') + "\n")), ErrorCode{});
  EXPECT_NE(code(TokenFile(std::string(wire::kMaxTokenBytes + 1, 'x'))), ErrorCode{});
  EXPECT_EQ(code(dir_.path() / "absent"), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace fieldcost::ingest

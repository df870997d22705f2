#include "common/wire/wire_requests.h"

#include <gtest/gtest.h>

#include "common/crypto/sha256.h"

namespace fieldcost::wire {
namespace {

const std::string kKey(32, 'K');

TEST(RequestsTest, SigningInputsAreDomainKeyNumbersAndHash) {
  const std::string hash = crypto::Sha256("body");
  const std::string numbers("\x02\x01\0\0\0\0\0\0\x03\0\0\0\0\0\0\0", 16);
  const std::string service = ServiceId("fieldcost.example", "0123abcd");
  EXPECT_EQ(service, "fieldcost.example/0123abcd");
  EXPECT_EQ(BatchSigningInput(service, kKey, Epoch(0x102), Sequence(3), hash),
            std::string("fieldcost batch v1\0", 19) + kKey + numbers + hash + service);
  EXPECT_EQ(WithdrawalSigningInput(service, kKey, Epoch(0x102), Sequence(3), hash),
            std::string("fieldcost withdrawal v1\0", 24) + kKey + numbers + hash + service);
  EXPECT_EQ(
      EnrolmentSigningInput(service, kKey, Epoch(0x102), hash),
      std::string("fieldcost enrolment v1\0", 23) + kKey + numbers.substr(0, 8) + hash + service);
}

TEST(RequestsTest, AWithdrawalAnswerSurvivesAndUnknownMembersAreIgnored) {
  EXPECT_EQ(EncodeWithdrawalAnswer({.withdrawn_rows = 4294967295}),
            R"({"withdrawn_rows":4294967295})");
  EXPECT_EQ(DecodeWithdrawalAnswer(R"({"withdrawn_rows":4294967295,"new":[]})").value(),
            (WithdrawalAnswer{.withdrawn_rows = 4294967295}));
}

TEST(RequestsTest, RefusesOtherWithdrawalResponses) {
  for (const char* json :
       {"", "{}", "[]", "7", R"({"withdrawn_rows":-1})", R"({"withdrawn_rows":4294967296})",
        R"({"withdrawn_rows":"1"})", R"({"withdrawn_rows":1} x)"}) {
    const auto answer = DecodeWithdrawalAnswer(json);
    ASSERT_FALSE(answer.has_value()) << json;
    EXPECT_EQ(answer.error().code, ErrorCode::kCorrupt) << json;
  }
  EXPECT_EQ(DecodeWithdrawalAnswer(std::string(kMaxAnswerBytes + 1, ' ')).error().code,
            ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace fieldcost::wire

#include <gtest/gtest.h>

#include "common/wire/batch.h"

namespace fieldcost::wire {
namespace {

TEST(AnswerTest, GoldenJson) {
  const BatchAnswer answer{
      .accepted_rows = 7, .rejects = {{.row = 3, .reason = "symbol is empty"}}, .rejected_rows = 1};
  const std::string json =
      R"({"accepted_rows":7,"rejected_rows":1,"rejects":[{"row":3,"reason":"symbol is empty"}]})";
  EXPECT_EQ(EncodeAnswer(answer), json);
  const auto decoded = DecodeAnswer(json);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(*decoded, answer);
}

TEST(AnswerTest, UnknownMembersAreIgnored) {
  const auto decoded =
      DecodeAnswer(R"({"accepted_rows":0,"rejected_rows":0,"rejects":[],"new":{"a":[1]}})");
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(*decoded, BatchAnswer());
}

TEST(AnswerTest, LongAndDirtyReasonsAreCutAndCleaned) {
  BatchAnswer answer{.rejected_rows = 200};
  for (std::uint32_t row = 0; row < 200; ++row) {
    answer.rejects.push_back({.row = row, .reason = "\"\xff\n" + std::string(1000, '\\')});
  }
  const std::string json = EncodeAnswer(answer);
  const auto decoded = DecodeAnswer(json);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(decoded->rejected_rows, 200U);
  ASSERT_EQ(decoded->rejects.size(), kMaxListedRejects);
  EXPECT_EQ(decoded->rejects[0].reason.substr(0, 4), "\"??\\");
  EXPECT_EQ(decoded->rejects[0].reason.size(), kMaxReasonBytes);
}

TEST(AnswerTest, AReceiptIsLowerCaseHexWithinItsLimit) {
  const auto with = [](const std::string& receipt) {
    return DecodeAnswer(R"({"accepted_rows":1,"rejected_rows":0,"rejects":[],"receipt":)" +
                        receipt + "}");
  };
  EXPECT_EQ(with("\"00ff\"").value().receipt, "00ff");
  const std::string longest(kMaxReceiptBytes, '7');
  EXPECT_EQ(with('"' + longest + '"').value().receipt, longest);
  for (const std::string& bad :
       {std::string("7"), std::string("\"00FF\""), std::string("\"xy\""), '"' + longest + "0\""}) {
    const auto answer = with(bad);
    ASSERT_FALSE(answer.has_value()) << bad;
    EXPECT_EQ(answer.error().code, ErrorCode::kCorrupt);
  }
}

TEST(AnswerTest, AnythingElseIsRefused) {
  for (const char* json : {
           "",
           "{",
           "[]",
           "7",
           "{}",
           R"({"accepted_rows":1,"rejected_rows":0})",
           R"({"accepted_rows":-1,"rejected_rows":0,"rejects":[]})",
           R"({"accepted_rows":1.5,"rejected_rows":0,"rejects":[]})",
           R"({"accepted_rows":4294967296,"rejected_rows":0,"rejects":[]})",
           R"({"accepted_rows":"1","rejected_rows":0,"rejects":[]})",
           R"({"accepted_rows":1,"rejected_rows":0,"rejects":{}})",
           R"({"accepted_rows":1,"rejected_rows":0,"rejects":[1]})",
           R"({"accepted_rows":1,"rejected_rows":0,"rejects":[{"row":1}]})",
           R"({"accepted_rows":1,"rejected_rows":0,"rejects":[{"reason":"x"}]})",
           R"({"accepted_rows":1,"rejected_rows":0,"rejects":[],"held":1})",
           R"({"accepted_rows":1,"rejected_rows":0,"rejects":[]} trailing)",
           R"({"accepted_rows":1,"rejected_rows":0,"rejects":[],"x":[[[[[[[[[[]]]]]]]]]]})",
       }) {
    const auto answer = DecodeAnswer(json);
    ASSERT_FALSE(answer.has_value()) << json;
    EXPECT_EQ(answer.error().code, ErrorCode::kCorrupt) << json;
  }
  EXPECT_EQ(DecodeAnswer(std::string(kMaxAnswerBytes + 1, ' ')).error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace fieldcost::wire

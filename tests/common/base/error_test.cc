#include "common/base/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "common/base/result.h"

namespace fieldcost {
namespace {

constexpr ErrorCode kAll[] = {
    ErrorCode::kInvalidArgument,  ErrorCode::kNotFound,
    ErrorCode::kAlreadyExists,    ErrorCode::kPermissionDenied,
    ErrorCode::kUnauthenticated,  ErrorCode::kCorrupt,
    ErrorCode::kTooLarge,         ErrorCode::kUnavailable,
    ErrorCode::kDeadlineExceeded, ErrorCode::kIo,
    ErrorCode::kUnsupported,      ErrorCode::kInternal,
};

TEST(ErrorTest, EveryCodeHasItsOwnNameAndSensibleStatuses) {
  std::set<std::string_view> names;
  for (const ErrorCode code : kAll) {
    EXPECT_TRUE(names.insert(Name(code)).second) << Name(code);
    EXPECT_GE(ExitStatus(code), 64);  // sysexits(3)
    EXPECT_LE(ExitStatus(code), 78);
    EXPECT_GE(HttpStatus(code), 400);
    EXPECT_LT(HttpStatus(code), 600);
  }
}

TEST(ErrorTest, NumbersAreStable) {
  int number = 0;
  for (const ErrorCode code : kAll) EXPECT_EQ(static_cast<int>(code), ++number);
}

TEST(ErrorTest, AnUnknownCodeCountsAsABug) {
  EXPECT_EQ(Name(static_cast<ErrorCode>(99)), "internal");
  EXPECT_EQ(HttpStatus(static_cast<ErrorCode>(99)), 500);
}

Result<int> Half(int number) {
  if (number % 2 != 0) return Fail(ErrorCode::kInvalidArgument, "halve {}: it is odd", number);
  return number / 2;
}

Result<int> Quarter(int number) {
  FIELDCOST_ASSIGN(const int half, Half(number));
  return Half(half);
}

Status CheckQuarter(int number) {
  FIELDCOST_TRY(Quarter(number));
  return {};
}

TEST(ResultTest, ValuesAndErrorsPassThroughTheMacros) {
  EXPECT_EQ(Quarter(12).value(), 3);
  EXPECT_TRUE(CheckQuarter(12));
  const Result<int> failed = Quarter(6);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(failed.error().message, "halve 3: it is odd");
  EXPECT_EQ(CheckQuarter(7).error().message, "halve 7: it is odd");
}

TEST(ResultTest, ContextStandsInFront) {
  const Error error = Within(Fail(ErrorCode::kIo, "disk full"), "write x");
  EXPECT_EQ(error.code, ErrorCode::kIo);
  EXPECT_EQ(error.message, "write x: disk full");
}

}  // namespace
}  // namespace fieldcost

#include "tools/lsp/check_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::lsp {
namespace {

using ::testing::StartsWith;

TEST(CheckResultTest, FlagsOnlyRegressions) {
  const auto result = ParseCheckResult(R"({"format_version": 1, "checked": "2026-11-21 15:00 UTC",
      "metric": "wall_time", "freshness": {"synthetic": true}, "apis": [
      {"library": "liba.so.1", "symbol": "f", "version": "1.2", "verdict": "more", "ratio": 3.14,
       "cliffs_delta": 0.41, "q": 0.001},
      {"library": "liba.so.1", "symbol": "g", "verdict": "none"}, 7, {"verdict": "more"}]})");
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->flagged.size(), 1u);
  EXPECT_EQ(
      FlaggedText(result->flagged.at("f"), *result),
      "f (liba.so.1 1.2) is worse here than in the field: wall_time 3.1 times as high "
      "(Cliff's delta 0.41, q 0.001), according to `fieldcost check` of 2026-11-21 15:00 UTC; "
      "SYNTHETIC: made-up data");
}

TEST(CheckResultTest, ASavedProfileIsNotCalledHere) {
  const auto result = ParseCheckResult(R"({"format_version": 1, "checked": "2026-11-21 15:00 UTC",
      "profile": "file", "metric": "wall_time", "apis": [
      {"library": "liba.so.1", "symbol": "f", "version": "1.2", "verdict": "more", "ratio": 3}]})");
  ASSERT_TRUE(result.has_value());
  EXPECT_THAT(FlaggedText(result->flagged.at("f"), *result),
              StartsWith("f (liba.so.1 1.2) is worse in a saved profile than in the field: "));
}

TEST(CheckResultTest, OtherDocumentsAreRefused) {
  EXPECT_EQ(ParseCheckResult("{").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(ParseCheckResult("{\"apis\": []}").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(ParseCheckResult("{\"format_version\": 1, \"apis\": 3}").error().code,
            ErrorCode::kCorrupt);
  EXPECT_EQ(ParseCheckResult("{\"format_version\": 2, \"apis\": []}").error().code,
            ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace fieldcost::lsp

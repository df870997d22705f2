#include "common/inference/verdict.h"

#include <gtest/gtest.h>

#include <limits>

namespace fieldcost::inference {
namespace {

TEST(VerdictTest, EveryVerdictHasANameForProgramsAndWordsForPeople) {
  EXPECT_EQ(Name(Verdict::kTooLittleData), "too_little_data");
  EXPECT_EQ(Name(Verdict::kNone), "none");
  EXPECT_EQ(Name(Verdict::kMore), "more");
  EXPECT_EQ(Name(Verdict::kLess), "less");
  for (const Wording wording : {Wording::kTime, Wording::kAmount, Wording::kField}) {
    EXPECT_EQ(Words(Verdict::kTooLittleData, wording), "too little data");
  }
  EXPECT_EQ(Words(Verdict::kNone, Wording::kTime), "no change shown");
  EXPECT_EQ(Words(Verdict::kMore, Wording::kTime), "slower");
  EXPECT_EQ(Words(Verdict::kLess, Wording::kTime), "faster");
  EXPECT_EQ(Words(Verdict::kMore, Wording::kAmount), "more");
  EXPECT_EQ(Words(Verdict::kLess, Wording::kAmount), "less");
  EXPECT_EQ(Words(Verdict::kMore, Wording::kField), "worse than the field");
  EXPECT_EQ(Words(Verdict::kNone, Wording::kField), "normal");
}

TEST(VerdictTest, AChangeNeedsEveryEffectInOneDirection) {
  const Thresholds& field = kFieldThresholds;
  EXPECT_EQ(VerdictOf({0.05, 1.25, 0.147}, field), Verdict::kMore);
  EXPECT_EQ(VerdictOf({0.05, 0.8, -0.147}, field), Verdict::kLess);
  EXPECT_EQ(VerdictOf({0.0501, 1.25, 0.147}, field), Verdict::kNone);
  EXPECT_EQ(VerdictOf({0.05, 1.2499, 0.147}, field), Verdict::kNone);
  EXPECT_EQ(VerdictOf({0.05, 0.8001, -0.147}, field), Verdict::kNone);
  EXPECT_EQ(VerdictOf({0.05, 1.25, 0.1469}, field), Verdict::kNone);
  EXPECT_EQ(VerdictOf({0.05, 1.25, -0.147}, field), Verdict::kNone);
  EXPECT_EQ(VerdictOf({0.05, 0.8, 0.147}, field), Verdict::kNone);
}

TEST(VerdictTest, ADeltaThatIsUnknownDoesNotDecideButZeroDoes) {
  EXPECT_EQ(VerdictOf({.q = 0.01, .ratio = 2}, kLabThresholds), Verdict::kMore);
  EXPECT_EQ(VerdictOf({.q = 0.01, .ratio = 2, .delta = 0}, kLabThresholds), Verdict::kNone);
  EXPECT_EQ(VerdictOf({.q = 0.01, .ratio = 0.5, .delta = 0}, kLabThresholds), Verdict::kNone);
}

TEST(VerdictTest, EqualCostsAreNoChangeAtAnyThreshold) {
  const Thresholds any{.false_share = 1};
  EXPECT_EQ(VerdictOf({.q = 0, .ratio = 1}, any), Verdict::kNone);
  EXPECT_EQ(VerdictOf({.q = 0, .ratio = 1 + 1e-9}, any), Verdict::kMore);
  EXPECT_EQ(VerdictOf({.q = 0, .ratio = 1 - 1e-9}, any), Verdict::kLess);
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(VerdictOf({.q = 0, .ratio = kUnknown}, any), Verdict::kNone);
}

TEST(VerdictTest, EnoughDataMeansValuesAndMachines) {
  EXPECT_TRUE(kFieldThresholds.IsEnough(100, 30));
  EXPECT_FALSE(kFieldThresholds.IsEnough(99, 30));
  EXPECT_FALSE(kFieldThresholds.IsEnough(100, 29));
  EXPECT_TRUE(kEventThresholds.IsEnough(5, 0));
}

}  // namespace
}  // namespace fieldcost::inference

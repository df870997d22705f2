#include "tools/exchange/exchange_numbers.h"

#include <gtest/gtest.h>

namespace fieldcost::exchange {
namespace {

TEST(ScaledNumberTest, DigitsAreExact) {
  EXPECT_EQ(ScaledNumber("40157422000.675", 3), 40'157'422'000'675U);
  EXPECT_EQ(ScaledNumber("1.5", 3), 1500U);
  EXPECT_EQ(ScaledNumber("1.9999", 3), 1999U);
  EXPECT_EQ(ScaledNumber("0.1", 0), 0U);
  EXPECT_EQ(ScaledNumber("-0.0", 3), 0U);
  EXPECT_EQ(ScaledNumber("1e3", 0), 1000U);
  EXPECT_EQ(ScaledNumber("1.25E+2", 3), 125'000U);
  EXPECT_EQ(ScaledNumber("125e-2", 3), 1250U);
  EXPECT_EQ(ScaledNumber("18446744073709551615", 0), ~std::uint64_t{0});
  EXPECT_EQ(ScaledNumber("18446744073709551616", 0), std::nullopt);
  EXPECT_EQ(ScaledNumber("1e999999999999", 0), std::nullopt);
  EXPECT_EQ(ScaledNumber("0e999999999999", 0), 0U);
  EXPECT_EQ(ScaledNumber("1e-999999999999", 0), 0U);
  for (const char* text : {"", "-1", "1e", "x", "1.x", "-1e-99", "1e5x", "."}) {
    EXPECT_EQ(ScaledNumber(text, 3), std::nullopt) << text;
  }
}

TEST(ScaledValueTest, ReportsSignsAndDigitsCutOff) {
  const auto value = ScaledValue("-0.0015", 3);
  ASSERT_TRUE(value.has_value());
  EXPECT_TRUE(value->is_negative);
  EXPECT_EQ(value->magnitude, 1U);
  EXPECT_TRUE(value->is_cut);
  EXPECT_FALSE(ScaledValue("-0", 0)->is_negative);
  EXPECT_FALSE(ScaledValue("1.500", 1)->is_cut);
  EXPECT_EQ(ScaledValue("+7", 0)->magnitude, 7U);
  EXPECT_EQ(ScaledValue(".5", 1)->magnitude, 5U);
  for (const char* text : {"", "+", "-", "--1", "+-1", "1-", "e5", "nan", "0x1", "1 "}) {
    EXPECT_FALSE(ScaledValue(text, 0).has_value()) << text;
  }
}

TEST(ZeroShiftTest, MovesTheLowestTimeToZero) {
  ZeroShift shift;
  shift.Look(*ScaledValue("-5", 0));
  shift.Look(*ScaledValue("-2", 0));
  EXPECT_EQ(shift.At(*ScaledValue("-5", 0)).value(), 0U);
  EXPECT_EQ(shift.At(*ScaledValue("-2", 0)).value(), 3U);
  EXPECT_EQ(shift.At(*ScaledValue("7", 0)).value(), 12U);
  EXPECT_EQ(shift.At(*ScaledValue("18446744073709551615", 0)).error().code, ErrorCode::kTooLarge);
}

TEST(ZeroShiftDeathTest, ATimeBelowAllThatWereSeenIsABug) {
  ZeroShift shift;
  shift.Look({.is_negative = true, .magnitude = 3});
  EXPECT_DEATH((void)shift.At({.is_negative = true, .magnitude = 4}), "magnitude <= shift_");
}

TEST(CountScaleTest, HoldsAllDigitsWhereTheyFit) {
  const auto decimals = [](std::initializer_list<const char*> texts) {
    CountScale scale;
    for (const char* text : texts) scale.Look(text);
    return scale.decimals();
  };
  EXPECT_EQ(decimals({}), 0U);
  EXPECT_EQ(decimals({"1", "2000", "3.000", "0.0", "x"}), 0U);
  EXPECT_EQ(decimals({"1", "0.98"}), 3U);
  EXPECT_EQ(decimals({"0.0001"}), 6U);
  EXPECT_EQ(decimals({"25e-7"}), 9U);
  EXPECT_EQ(decimals({"0.15600000000000003"}), 9U);
  EXPECT_EQ(decimals({"0.0000001", "123456789012"}), 6U);
  EXPECT_EQ(decimals({"0.5", "1234567890123456789"}), 0U);
  EXPECT_EQ(CountScale::MetricOf({.name = "samples"}, 3).name, "milli-samples");
  EXPECT_EQ(CountScale::MetricOf({.name = "samples"}, 0).name, "samples");
}

}  // namespace
}  // namespace fieldcost::exchange

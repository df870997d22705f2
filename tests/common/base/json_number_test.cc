#include "common/base/json_number.h"

#include <gtest/gtest.h>

#include <charconv>
#include <limits>

namespace fieldcost {
namespace {

TEST(JsonNumberTest, WritesNumbersAsPeopleDo) {
  EXPECT_EQ(JsonNumber(0.0625), "0.0625");
  EXPECT_EQ(JsonNumber(7), "7");
  EXPECT_EQ(JsonNumber(-1234567.5), "-1234567.5");
  EXPECT_EQ(JsonNumber(0), "0");
  EXPECT_EQ(JsonNumber(-0.0), "0");
  EXPECT_EQ(JsonNumber(0.1), "0.1");
  EXPECT_EQ(JsonNumber(1e20), "100000000000000000000");
  EXPECT_EQ(JsonNumber(1e-6), "0.000001");
}

TEST(JsonNumberTest, KeepsExponentsOfExtremeValues) {
  EXPECT_EQ(JsonNumber(1e21), "1e+21");
  EXPECT_EQ(JsonNumber(2.5e-7), "2.5e-07");
}

TEST(JsonNumberTest, WritesNullWhereThereIsNoNumber) {
  EXPECT_EQ(JsonNumber(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(JsonNumber(std::numeric_limits<double>::quiet_NaN()), "null");
}

TEST(JsonNumberTest, IsExact) {
  for (const double value : {1.0 / 3, 0.1 + 0.2, 5e-324, 1.7976931348623157e308, 123456789.123}) {
    const std::string text = JsonNumber(value);
    double read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    EXPECT_EQ(read, value) << text;
  }
}

}  // namespace
}  // namespace fieldcost

#include "common/tree/tree_metric.h"

#include <gtest/gtest.h>

#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

TEST(MetricTest, NamesUseFewLettersAndUnitsAreKnown) {
  for (const char* name : {"wall", "off-cpu", "page_faults", "l1.misses", "0"}) {
    EXPECT_TRUE(Validate(Metric{.name = name}).has_value()) << name;
  }
  EXPECT_TRUE(Validate(Metric{.name = std::string(kMaxMetricNameBytes, 'a')}).has_value());
  for (const std::string& name :
       {std::string(), std::string("Wall"), std::string("a b"), std::string("a\n"),
        std::string("\xc3\xa4"), std::string(kMaxMetricNameBytes + 1, 'a')}) {
    EXPECT_EQ(Validate(Metric{.name = name}).error().code, ErrorCode::kInvalidArgument) << name;
  }
  for (const int unit : {0, 4, 255}) {
    EXPECT_FALSE(Validate(Metric{.name = "wall", .unit = static_cast<Unit>(unit)}).has_value());
  }
}

}  // namespace
}  // namespace fieldcost::tree

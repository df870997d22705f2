#include "common/serve/metrics_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace fieldcost::serve {
namespace {

using ::testing::HasSubstr;

TEST(MetricsTextTest, WritesNamesHelpTypesAndValues) {
  MetricsText metrics;
  metrics.Counter("a_total", "Some.", std::uint64_t{12});
  metrics.Gauge("b_seconds", "Others.", 0.25);
  metrics.BeginCounters("c_total", "By reason.");
  metrics.Add(1, {"reason", "x"});
  metrics.Add(2, {"reason", "quote \" and\nline"});
  EXPECT_EQ(metrics.Text(),
            "# HELP a_total Some.\n# TYPE a_total counter\na_total 12\n"
            "# HELP b_seconds Others.\n# TYPE b_seconds gauge\nb_seconds 0.25\n"
            "# HELP c_total By reason.\n# TYPE c_total counter\n"
            "c_total{reason=\"x\"} 1\nc_total{reason=\"quote \\\" and\\nline\"} 2\n");
}

TEST(MetricsTextTest, LargeCountsAreExact) {
  MetricsText metrics;
  metrics.Gauge("a", "A.", std::uint64_t{9'007'199'254'740'991});
  EXPECT_THAT(metrics.Text(), HasSubstr("\na 9007199254740991\n"));
}

TEST(MetricsTextTest, AHistogramIsCumulative) {
  constexpr std::array kBounds = {0.5, 1.0};
  constexpr std::array<std::uint64_t, 3> kCounts = {1, 2, 4};
  MetricsText metrics;
  metrics.Histogram("h", "H.", kBounds, kCounts, 9.5);
  const std::string text = metrics.Text();
  for (const char* line : {"h_bucket{le=\"0.5\"} 1\n", "h_bucket{le=\"1\"} 3\n",
                           "h_bucket{le=\"+Inf\"} 7\n", "h_count 7\n", "h_sum 9.5\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(MetricsTextTest, HistogramsOfAFamilyHaveLabels) {
  constexpr std::array kBounds = {0.5};
  constexpr std::array<std::uint64_t, 2> kCounts = {1, 2};
  MetricsText metrics;
  metrics.BeginHistograms("h", "H.");
  metrics.AddHistogram(kBounds, kCounts, 9.5, {"stage", "x"});
  metrics.AddHistogram(kBounds, kCounts, 0.5, {"stage", "y"});
  const std::string text = metrics.Text();
  EXPECT_EQ(text.find("# TYPE h histogram"), text.rfind("# TYPE h histogram"));
  for (const char* line :
       {"h_bucket{stage=\"x\",le=\"0.5\"} 1\n", "h_bucket{stage=\"x\",le=\"+Inf\"} 3\n",
        "h_count{stage=\"x\"} 3\n", "h_sum{stage=\"x\"} 9.5\n", "h_sum{stage=\"y\"} 0.5\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

}  // namespace
}  // namespace fieldcost::serve

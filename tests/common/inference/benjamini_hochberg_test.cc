#include "common/inference/benjamini_hochberg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <string>

#include "common/inference/tails.h"

namespace fieldcost::inference {
namespace {

// The example of Benjamini and Hochberg 1995, section 3.2: four hypotheses are rejected at 0.05.
TEST(BenjaminiHochbergTest, ThePapersExample) {
  const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0};
  const std::vector<double> q = AdjustForFalseDiscoveries(p);
  EXPECT_EQ(std::ranges::count_if(q, [](double value) { return value <= 0.05; }), 4);
  EXPECT_NEAR(q[3], 0.0095 * 15 / 4, 1e-15);
  EXPECT_NEAR(q[5], 0.0298 * 15 / 7, 1e-15);  // the minimum of the later ones
}

TEST(BenjaminiHochbergTest, RejectsWhatTheStepUpProcedureRejectsInAnyOrder) {
  std::mt19937_64 random(30);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> p(random() % 40);
    for (double& value : p) value = static_cast<double>(random() % 1000 + 1) / 1000;
    for (double& value : p) value = random() % 3 == 0 ? value / 50 : value;
    const std::vector<double> q = AdjustForFalseDiscoveries(p);
    std::vector<double> sorted = p;
    std::ranges::sort(sorted);
    double threshold = 0;  // the maximum p_(k) <= k / count * 0.05
    for (std::size_t k = 1; k <= sorted.size(); ++k) {
      const double line = 0.05 * static_cast<double>(k) / static_cast<double>(sorted.size());
      if (sorted[k - 1] <= line * (1 + 1e-12)) threshold = sorted[k - 1];
    }
    for (std::size_t i = 0; i < p.size(); ++i) {
      EXPECT_EQ(q[i] <= 0.05 * (1 + 1e-12), p[i] <= threshold);
    }
  }
}

TEST(BenjaminiHochbergTest, IsMonotoneAndNeverBelowP) {
  std::mt19937_64 random(31);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> p(1 + random() % 30);
    for (double& value : p) value = std::ldexp(static_cast<double>(random() >> 11), -53);
    const std::vector<double> q = AdjustForFalseDiscoveries(p);
    const std::size_t one = random() % p.size();
    std::vector<double> lower = p;
    lower[one] /= 2;
    const std::vector<double> q_lower = AdjustForFalseDiscoveries(lower);
    for (std::size_t i = 0; i < p.size(); ++i) {
      EXPECT_GE(q[i], p[i]);
      EXPECT_LE(q[i], 1);
      EXPECT_LE(q_lower[i], q[i]);
      for (std::size_t j = 0; j < p.size(); ++j) {
        EXPECT_TRUE(p[i] > p[j] || q[i] <= q[j]);
      }
    }
  }
  EXPECT_TRUE(AdjustForFalseDiscoveries({}).empty());
}

TEST(TailsTest, AreThoseOfScipy) {
  std::ifstream in(FIELDCOST_GOLDEN_DIR "/tails.txt");
  int compared = 0;
  std::string name;
  while (in >> name) {
    double at = 0;
    double freedom = 0;
    double expected = 0;
    in >> at;
    if (name == "student") in >> freedom;
    in >> expected;
    const double p = name == "normal" ? NormalUpperTail(at) : StudentTUpperTail(at, freedom);
    EXPECT_NEAR(p / expected, 1, 1e-10) << name << " " << at << " " << freedom;
    ++compared;
  }
  EXPECT_EQ(compared, 43);
  EXPECT_EQ(NormalUpperTail(1e300), 0);
  EXPECT_EQ(NormalUpperTail(-HUGE_VAL), 1);
  EXPECT_EQ(StudentTUpperTail(HUGE_VAL, 30), 0);
  EXPECT_EQ(StudentTUpperTail(-1e300, 1e9), 1);
}

}  // namespace
}  // namespace fieldcost::inference

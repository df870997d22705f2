#include "agent/preload/gaps.h"

#include <cmath>
#include <functional>
#include <vector>

#include "gtest/gtest.h"

// Tests the weights of timed calls with simulated threads.

namespace fieldcost::preload {
namespace {

constexpr std::uint64_t kSeed = 20261122;

using Draw = std::uint32_t (*)(std::uint32_t from, std::uint32_t to, std::uint64_t* random);

std::uint32_t AlwaysUsual(std::uint32_t, std::uint32_t to, std::uint64_t* random) {
  return DrawUsualGap(to, random);
}

// One thread's calls of a pick, sampled as in overhead.cc.
class Thread {
 public:
  Thread(std::uint64_t* random, Draw changed) : random_(random), changed_(changed) {}

  // The weight of the next call; 0 if it is not timed.
  std::uint64_t Call(std::uint32_t log2) {
    if (log2 == 0) return 1;
    if (left_-- > 0) return 0;
    const std::uint64_t weight = std::uint64_t{1} << gap_log2_;
    left_ = gap_log2_ == log2 ? DrawUsualGap(log2, random_) : changed_(gap_log2_, log2, random_);
    gap_log2_ = log2;
    return weight;
  }

 private:
  std::uint64_t* random_;
  Draw changed_;
  std::uint32_t gap_log2_ = 0;
  std::uint32_t left_ = 0;
};

// A simulated program: the number of its calls, their values and the sampling, which may depend on
// how many calls have been timed.
struct Program {
  std::uint64_t calls;
  std::function<double(std::uint64_t call)> value;
  std::function<std::uint32_t(std::uint64_t call, std::uint64_t timed)> log2;
};

// The deviation of the mean estimated total from the true one, in standard errors.
double Deviation(const Program& program, int runs, Draw changed = &DrawChangedGap) {
  std::uint64_t random = kSeed;
  double truth = 0;
  for (std::uint64_t call = 0; call < program.calls; ++call) truth += program.value(call);
  double sum = 0;
  double squares = 0;
  for (int run = 0; run < runs; ++run) {
    Thread thread(&random, changed);
    double total = 0;
    std::uint64_t timed = 0;
    for (std::uint64_t call = 0; call < program.calls; ++call) {
      const std::uint64_t weight = thread.Call(program.log2(call, timed));
      if (weight != 0) ++timed;
      total += static_cast<double>(weight) * program.value(call);
    }
    sum += total - truth;
    squares += (total - truth) * (total - truth);
  }
  const double mean = sum / runs;
  const double error = std::sqrt((squares / runs - mean * mean) / runs);
  return error == 0 ? mean : mean / error;
}

double One(std::uint64_t) { return 1; }

TEST(GapsTest, UsualGapsAreUniformAndFirstOnesAreTheirRemainder) {
  constexpr std::uint32_t kLog2 = 2;
  constexpr int kDraws = 1000000;
  constexpr std::size_t kLengths = 7;
  std::uint64_t random = kSeed;
  std::vector<double> usual(kLengths);
  std::vector<double> left(kLengths);
  for (int i = 0; i < kDraws; ++i) {
    usual.at(DrawUsualGap(kLog2, &random)) += 1.0 / kDraws;
    left.at(DrawLeftGap(kLog2, &random)) += 1.0 / kDraws;
  }
  for (std::size_t length = 0; length < kLengths; ++length) {
    EXPECT_NEAR(usual[length], 1.0 / kLengths, 0.002);
    // A random moment is in a gap with probability proportional to the gap's calls.
    EXPECT_NEAR(left[length],
                2.0 * static_cast<double>(kLengths - length) / (kLengths * (kLengths + 1)), 0.002);
  }
}

TEST(GapsTest, FromTheSwitchOnEachCallIsTimedWithTheSameProbability) {
  constexpr std::uint32_t kLog2 = 4;
  constexpr int kRuns = 200000;
  std::uint64_t random = kSeed;
  std::vector<int> timed(50);
  for (int run = 0; run < kRuns; ++run) {
    Thread thread(&random, &DrawChangedGap);
    thread.Call(kLog2);
    for (int& count : timed) count += thread.Call(kLog2) != 0 ? 1 : 0;
  }
  for (const int count : timed) EXPECT_NEAR(count * 16.0 / kRuns, 1, 0.05);
}

TEST(GapsTest, TotalsAreTrueForFewCallsAsForMany) {
  for (const std::uint64_t calls : {2U, 5U, 20U, 100U, 3000U}) {
    for (const std::uint32_t log2 : {1U, 4U, 10U}) {
      const Program program{calls, &One, [log2](auto, auto) { return log2; }};
      EXPECT_LT(std::abs(Deviation(program, 20000)), 4) << calls << " at 2^" << log2;
    }
  }
  const Program brief{20, &One, [](auto, auto) { return 4; }};
  EXPECT_LT(Deviation(brief, 20000, &AlwaysUsual), -20)
      << "the effect of treating a first gap like any other";
}

TEST(GapsTest, TotalsAreUnbiasedForPeriodicCalls) {
  for (const std::uint64_t period : {2U, 3U, 16U, 31U, 100U, 1000U}) {
    const auto rare = [period](std::uint64_t call) { return call % period == 0 ? 1000.0 : 1.0; };
    const Program program{5000, rare, [](auto, auto) { return 4; }};
    EXPECT_LT(std::abs(Deviation(program, 4000)), 4) << period;
  }
}

// Long calls come first, and N grows during the short ones: the case that the library must get
// right.
TEST(GapsTest, TotalsAreTrueWhileTheSamplingGrows) {
  const auto long_at_first = [](std::uint64_t call) { return call < 100 ? 1000.0 : 1.0; };
  // The sampling is changed by the thread itself after this many timed calls, and at a moment that
  // it does not choose.
  const auto settled = [](std::uint64_t, std::uint64_t timed) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(timed / 100 * 3, 9));
  };
  const auto told = [](std::uint64_t call, std::uint64_t) {
    return call < 300 ? 0U : call < 400 ? 3U : call < 500 ? 6U : 9U;
  };
  for (const std::uint64_t calls : {1000U, 3000U, 20000U}) {
    EXPECT_LT(std::abs(Deviation({calls, long_at_first, settled}, 4000)), 4) << calls;
    EXPECT_LT(std::abs(Deviation({calls, long_at_first, told}, 4000)), 4) << calls;
  }
  EXPECT_LT(Deviation({3000, &One, told}, 4000, &AlwaysUsual), -10);
}

}  // namespace
}  // namespace fieldcost::preload

#include "agent/trace/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/agent/trace/recorded.h"

namespace fieldcost::trace {
namespace {

using testing::NamesOf;
using testing::Record;
using testing::SumOf;
using testing::Victim;

const std::string kBurn = Victim("burn");

TEST(SamplerTest, CpuTimeIsFoundWhereItIsSpentThroughStacksDeeperThanTheCopyAndInChildren) {
  const auto recording = Record({kBurn, "60000000"}, {});
  if (!recording) GTEST_SKIP() << "perf events are not allowed here";
  ASSERT_GE(recording->samples.size(), 20U);
  symbols::Symbols symbols;
  std::map<std::string, std::uint64_t> weights;
  std::uint64_t all = 0;
  std::uint64_t whole = 0;
  for (const Sample& sample : recording->samples) {
    const std::string names = NamesOf(*recording, sample, symbols);
    const std::size_t main = names.find(" < main < ");
    weights[main == std::string::npos ? "other" : names.substr(0, main)] += sample.weight_ns;
    all += sample.weight_ns;
    if (sample.end == unwind::StackEnd::kOutermost) whole += sample.weight_ns;
  }
  const auto share = [&](const std::string& names) {
    return static_cast<double>(weights[names]) / static_cast<double>(all);
  };
  EXPECT_NEAR(share("burn_innermost < burn_middle < burn_outer"), 0.5, 0.15)
      << ::testing::PrintToString(weights);
  EXPECT_NEAR(share("burn_innermost < burn_in_child"), 0.5, 0.15)
      << ::testing::PrintToString(weights);
  EXPECT_GE(static_cast<double>(whole), 0.95 * static_cast<double>(all));
  EXPECT_EQ(recording->counts.unreadable, 0U);
  EXPECT_EQ(recording->counts.samples, recording->samples.size());
}

TEST(SamplerTest, SamplesComeByTimeAndNameTheirThread) {
  const auto recording = Record({kBurn, "30000000"}, {});
  if (!recording) GTEST_SKIP() << "perf events are not allowed here";
  std::map<pid_t, std::size_t> processes;
  for (const Sample& sample : recording->samples) {
    ++processes[sample.pid];
    EXPECT_EQ(sample.pid, sample.tid);
    EXPECT_EQ(sample.weight_ns, Sampler::Options().period_ns);
  }
  EXPECT_EQ(processes.size(), 2U);
  EXPECT_TRUE(
      std::is_sorted(recording->samples.begin(), recording->samples.end(),
                     [](const Sample& a, const Sample& b) { return a.time_ns < b.time_ns; }) ||
      recording->counts.out_of_order > 0);
}

TEST(SamplerTest, ReadsTheStackBeyondASmallCopy) {
  // A copy of 2 KiB does not contain burn_middle's frame; the memory beyond it is read.
  const auto recording = Record({kBurn, "30000000"}, {.stack_bytes = 2048});
  if (!recording) GTEST_SKIP() << "perf events are not allowed here";
  std::size_t whole = 0;
  for (const Sample& sample : recording->samples)
    whole += sample.end == unwind::StackEnd::kOutermost ? 1U : 0U;
  EXPECT_GE(static_cast<double>(whole), 0.9 * static_cast<double>(recording->samples.size()));
}

TEST(SamplerTest, CannotSampleAnExitedProcess) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) std::_Exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(Sampler::OfNextExec(child, {}, [](const Sample&) {}).has_value());
}

}  // namespace
}  // namespace fieldcost::trace

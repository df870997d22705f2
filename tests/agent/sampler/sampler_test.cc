#include "agent/sampler/sampler.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/check.h"
#include "common/symbols/symbols.h"

namespace fieldcost::sampler {
namespace {

const std::string kBurn = std::string(FIELDCOST_BINARY_DIR) + "/victims/burn";

// A child that becomes a program when it is told to; reaped at the end.
class WaitingChild {
 public:
  explicit WaitingChild(std::vector<std::string> command) {
    int ends[2];
    FIELDCOST_CHECK(::pipe2(ends, O_CLOEXEC) == 0);
    pid_ = ::fork();
    FIELDCOST_CHECK(pid_ >= 0);
    if (pid_ == 0) {
      ::close(ends[1]);
      char go = 0;
      if (::read(ends[0], &go, 1) != 1) std::_Exit(1);
      std::vector<char*> arguments;
      for (std::string& argument : command) arguments.push_back(argument.data());
      arguments.push_back(nullptr);
      ::execv(arguments[0], arguments.data());
      std::_Exit(127);
    }
    ::close(ends[0]);
    start_ = UniqueFd(ends[1]);
  }
  ~WaitingChild() {
    start_.Reset();
    if (pid_ > 0) Reap();
  }
  pid_t pid() const { return pid_; }
  void Go() { FIELDCOST_CHECK(::write(start_.get(), "g", 1) == 1); }
  // What it, and those it waited for, used.
  rusage Reap() {
    int status = 0;
    rusage usage{};
    FIELDCOST_CHECK(::wait4(std::exchange(pid_, -1), &status, 0, &usage) > 0);
    EXPECT_EQ(status, 0);
    return usage;
  }

 private:
  pid_t pid_ = -1;
  UniqueFd start_;
};

struct Recording {
  std::vector<Sample> samples;
  std::vector<SampledModule> modules;
  SamplerCounts counts;
  double user_ns = 0;
};

// Empty: this machine does not let anybody sample.
std::optional<Recording> Record(std::vector<std::string> command, Sampler::Options options) {
  WaitingChild child(std::move(command));
  Recording recording;
  auto sampler = Sampler::OfNextExec(
      child.pid(), options, [&](const Sample& sample) { recording.samples.push_back(sample); });
  if (!sampler) {
    EXPECT_TRUE(sampler.error().code == ErrorCode::kPermissionDenied ||
                sampler.error().code == ErrorCode::kUnsupported);
    child.Go();
    return std::nullopt;
  }
  child.Go();
  for (;;) {
    const auto more = (*sampler)->Wait(std::chrono::seconds(1));
    EXPECT_TRUE(more.has_value());
    if (!more || !*more) break;
  }
  const rusage usage = child.Reap();
  recording.user_ns = static_cast<double>(usage.ru_utime.tv_sec) * 1e9 +
                      static_cast<double>(usage.ru_utime.tv_usec) * 1e3;
  recording.modules = (*sampler)->modules();
  recording.counts = (*sampler)->counts();
  return recording;
}

std::string NamesOf(const Recording& recording, const Sample& sample, symbols::Symbols& symbols) {
  std::string names;
  for (const SampledFrame& frame : sample.frames) {
    const SampledModule& module = recording.modules[frame.module];
    const auto& found = symbols.FramesAt(module.path, module.build_id, frame.address);
    names +=
        (names.empty() ? "" : " < ") + (found.empty() ? std::string("?") : found.back().function);
  }
  return names;
}

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
  EXPECT_EQ(recording->counts.lost, 0U);
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

TEST(SamplerTest, WhatASmallCopyDoesNotHoldIsReadBehindIt) {
  // A copy of 2 KiB does not hold burn_middle's frame; what is behind it is read.
  const auto recording = Record({kBurn, "30000000"}, {.stack_bytes = 2048});
  if (!recording) GTEST_SKIP() << "perf events are not allowed here";
  std::size_t whole = 0;
  for (const Sample& sample : recording->samples)
    whole += sample.end == unwind::StackEnd::kOutermost ? 1U : 0U;
  EXPECT_GE(static_cast<double>(whole), 0.9 * static_cast<double>(recording->samples.size()));
}

TEST(SamplerTest, WhoIsGoneCannotBeSampled) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) std::_Exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(Sampler::OfNextExec(child, {}, [](const Sample&) {}).has_value());
}

}  // namespace
}  // namespace fieldcost::sampler

#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/symbols/symbols.h"
#include "agent/trace/sampler.h"
#include "common/base/check.h"
#include "tests/support/binary_dir.h"

// Samples programs for tests.
namespace fieldcost::trace::testing {

inline std::string Victim(const std::string& name) {
  std::string path = FIELDCOST_BINARY_DIR "/victims/";
  path += name;
  return path;
}

// A child that executes a program on command; reaped at the end.
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
  // The caller reaps it.
  void Release() { pid_ = -1; }
  void Go() { FIELDCOST_CHECK(::write(start_.get(), "g", 1) == 1); }
  // Returns the resource usage of the child and of its children.
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
  std::vector<Sample> samples;  // CPU time, with a stack
  std::vector<Sample> rest;     // CPU time, without a stack
  std::vector<Sample> waits;
  std::vector<Sample> counters;
  std::vector<perf::SampledModule> modules;
  SamplerCounts counts;
  std::uint64_t cpu_ns = 0;      // from wait4(2): user mode and kernel
  std::uint64_t counted_ns = 0;  // from an event of the test itself that only counts
  std::uint64_t counted_faults = 0;
  void Take(const Sample& sample) {
    if (sample.kind == Sample::Kind::kWait) {
      waits.push_back(sample);
    } else if (sample.kind == Sample::Kind::kCounter) {
      counters.push_back(sample);
    } else {
      (sample.frames.empty() ? rest : samples).push_back(sample);
    }
  }
};

inline std::uint64_t SumOf(const std::vector<Sample>& samples) {
  std::uint64_t sum = 0;
  for (const Sample& sample : samples) sum += sample.weight_ns;
  return sum;
}

inline std::uint64_t SumOf(const std::vector<Sample>& samples, std::string_view special) {
  std::uint64_t sum = 0;
  for (const Sample& sample : samples) {
    if (sample.special != nullptr && sample.special == special) sum += sample.weight_ns;
  }
  return sum;
}

inline std::uint64_t NsOf(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_usec) * 1'000;
}

// Counts the usage of the process and its children from its next exec on.
inline UniqueFd CounterOf(pid_t pid, std::uint64_t config) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = config;
  attributes.disabled = 1;
  attributes.enable_on_exec = 1;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;  // ignored by clocks
  attributes.exclude_hv = 1;
  return UniqueFd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, pid, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

// nullopt: sampling is not permitted on this machine.
inline std::optional<Recording> Record(std::vector<std::string> command, Sampler::Options options) {
  WaitingChild child(std::move(command));
  Recording recording;
  auto sampler = Sampler::OfNextExec(child.pid(), options,
                                     [&](const Sample& sample) { recording.Take(sample); });
  if (!sampler) {
    EXPECT_TRUE(sampler.error().code == ErrorCode::kPermissionDenied ||
                sampler.error().code == ErrorCode::kUnsupported);
    child.Go();
    return std::nullopt;
  }
  const UniqueFd clock = CounterOf(child.pid(), PERF_COUNT_SW_TASK_CLOCK);
  const UniqueFd faults = CounterOf(child.pid(), PERF_COUNT_SW_PAGE_FAULTS);
  child.Go();
  for (;;) {
    const auto more = (*sampler)->Wait(std::chrono::seconds(1));
    EXPECT_TRUE(more.has_value());
    if (!more || !*more) break;
  }
  const rusage usage = child.Reap();
  recording.cpu_ns = NsOf(usage.ru_utime) + NsOf(usage.ru_stime);
  for (const auto& [counter, value] :
       {std::pair(&clock, &recording.counted_ns), std::pair(&faults, &recording.counted_faults)}) {
    EXPECT_EQ(::read(counter->get(), value, sizeof *value), static_cast<ssize_t>(sizeof *value));
  }
  recording.modules = (*sampler)->modules();
  recording.counts = (*sampler)->counts();
  return recording;
}

inline std::string NamesOf(const Recording& recording, const Sample& sample,
                           symbols::Symbols& symbols) {
  std::string names;
  for (const perf::SampledFrame& frame : sample.frames) {
    const perf::SampledModule& module = recording.modules[frame.module];
    const auto& found =
        symbols.FramesAt(module.path, module.build_id, frame.address, module.opened);
    if (!names.empty()) names += " < ";
    names += found.empty() ? "?" : found.back().function.c_str();
  }
  return names;
}

}  // namespace fieldcost::trace::testing

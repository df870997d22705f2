#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/sampler/counter.h"
#include "agent/sampler/cpu_account.h"
#include "agent/sampler/module_list.h"
#include "agent/sampler/perf_events.h"
#include "agent/sampler/perf_record.h"
#include "agent/sampler/process_maps.h"
#include "agent/sampler/run_times.h"
#include "agent/sampler/short_waits.h"
#include "agent/sampler/thread_list.h"
#include "agent/sampler/thunk_records.h"
#include "agent/sampler/wait_tracker.h"
#include "common/base/file.h"
#include "common/base/result.h"
#include "common/unwind/unwinder.h"

namespace fieldcost::sampler {

struct Sample {
  enum class Kind { kCpu, kWait, kCounter };
  Kind kind = Kind::kCpu;
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC; of a wait, or a part of one: its end
  pid_t pid = 0;              // 0: of several
  pid_t tid = 0;
  std::uint32_t cpu = 0;
  std::uint64_t weight_ns = 0;  // CPU time that it stands for, or how long it waited until then
  std::size_t counter = 0;      // of kCounter: which of Sampler::Options::counters
  std::uint64_t events = 0;     // of it that this stands for
  std::vector<SampledFrame> frames;  // innermost first
  // Not null: what the innermost frame did that is no code of the process, or with no frames, what
  // all of it is: a special frame (common/tree/frame.h).
  const char* special = nullptr;
  unwind::StackEnd end = unwind::StackEnd::kBroken;
};

// Special frames that only samples have.
// CPU time of threads that is less than a period, when they end or at the end of all. Of a counter,
// at the end of all: what no sample stands for.
inline constexpr char kUnsampled[] = "[unsampled]";
// Waits of less than Sampler::kLongWait.
inline constexpr char kShortWaits[] = "[short waits]";
// Longer ones that were over before their stack was read, or whose process may not be read.
inline constexpr char kWaitsWithoutStack[] = "[waits without a stack]";
// A thread wanted to run on, and had no CPU.
inline constexpr char kPreempted[] = "[preempted]";

struct SamplerCounts {
  std::uint64_t samples = 0;       // of CPU time
  std::uint64_t waits = 0;         // of kLongWait and more
  std::uint64_t missed_waits = 0;  // those of them that have no stack
  std::uint64_t lost = 0;          // records that the kernel had no room for
  std::uint64_t unreadable = 0;    // records that were not understood
  std::uint64_t of_32_bit = 0;     // samples of other programs than 64-bit ones: not given
  std::uint64_t out_of_order = 0;  // records that came later than one with a later time
};

// Samples stacks of a process and its descendants: a task-clock event a CPU, inherited, and what
// the kernel says of switches. Nothing is put into the process, which is not stopped. Unwinds at
// once, in order of time. Needs no rights beyond perf_event_paranoid <= 2 and, for stacks deeper
// than the copy and those of waits, ptrace's. Not thread-safe.
//
// All samples of CPU time together are as much as the kernel counted, user mode and kernel. Where
// it lets this process see samples of kernel mode (paranoid <= 1, or root), they have the stack
// that led there and the special frame [kernel]; else [kernel] is one path, without a stack. Waits
// together are as long as threads had no CPU, from when they first got one; a long one is given in
// parts of at most kLongestPart while it passes. Those of a thread do not overlap: a wait's time is
// from time_ns - weight_ns to time_ns. Of waits below kLongWait the sum is given every 100 ms, as
// if they had followed each other up to the last of them. Samples of a counter are together as many
// as it counted in user mode.
class Sampler {
 public:
  static constexpr auto kLongWait = std::chrono::milliseconds(1);
  static constexpr auto kLongestPart = std::chrono::seconds(1);

  struct Options {
    std::uint64_t period_ns = 1'003'009;    // of CPU time; not in step with timers
    std::uint32_t stack_bytes = 16 * 1024;  // of the copy; a multiple of 8, at most 65,528 - 8
    std::size_t ring_bytes = 512 * 1024;    // a CPU; a power of two, of pages
    std::vector<Counter> counters = {};     // those that pass CheckCounters(), each once
  };
  using Sink = std::function<void(const Sample&)>;

  // The process must not have run what is to be sampled: sampling begins with its next exec, and
  // ends when nothing of it is left.
  // kPermissionDenied and kUnsupported say what is missing.
  static Result<std::unique_ptr<Sampler>> OfNextExec(pid_t pid, Options options, Sink sink);
  // A process that runs, all its threads, and what they start from now on; ends when it ends.
  // kNotFound: there is none.
  static Result<std::unique_ptr<Sampler>> OfRunning(pid_t pid, Options options, Sink sink);

  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Waits for records, at most so long, or until a signal, and gives what came. False: it has
  // ended, and all was given.
  Result<bool> Wait(std::chrono::milliseconds limit);
  // Gives all that is left, waits that go on too. Wait() may not follow.
  void Finish();

  const std::vector<SampledModule>& modules() const { return modules_.all(); }
  // Knows the names of threads as they are at the sample that was given last.
  ThreadList& thread_list() { return thread_list_; }
  const SamplerCounts& counts() const { return counts_; }
  // All waits up to then have been given, as far as the kernel's records came by time.
  std::uint64_t waits_given_until_ns() const { return waits_given_until_ns_; }

 private:
  struct Stack {
    std::vector<SampledFrame> frames;
    unwind::StackEnd end = unwind::StackEnd::kBroken;
  };
  using Waits = WaitTracker<Stack>;
  Sampler(pid_t pid, Options options, std::unique_ptr<PerfEvents> events, Sink sink);
  static Result<std::unique_ptr<Sampler>> Of(pid_t pid, Options options, bool from_next_exec,
                                             Sink sink);
  // Adds those of the threads that are not known yet; true: there were some.
  Result<bool> AddThreads(const std::vector<pid_t>& threads);
  void Drain(std::uint64_t until_ns);
  void Take(const PerfRecord& record, std::size_t ring);
  void TakeSample(const SampleRecord& record, std::uint64_t time);
  void TakeSwitch(const SwitchRecord& record, std::size_t ring, std::uint64_t time);
  void TakeExit(const ExitRecord& record, std::uint64_t time);
  void TakeMap(const MapRecord& record);
  // Makes the table of what is mapped there, while rings are emptied.
  void MakeTable(unwind::ModuleMap& map, std::uint64_t address);
  void TakeWait(Waits::Wait wait);
  void GiveWait(Waits::Wait wait);
  void GiveShortWaits(const std::vector<ShortWaits::Span>& spans);
  // What has passed of waits by then, all ended.
  void GivePassed(std::uint64_t time);
  void ReadWaits();
  void PlanNextLook(double fill);
  // CPU time that is in no sample.
  void TakeRest(std::uint64_t time, std::uint64_t counted_ns);
  void TakeRestOfCounters(std::uint64_t time);
  // Gives one sample at a path that only has the frame `special`. pid 0: it belongs to no thread.
  void GiveSpecial(const char* special, std::uint64_t time, std::uint64_t value, pid_t pid = 0,
                   pid_t tid = 0);
  void TakeEnd(pid_t pid, pid_t tid, std::uint64_t run_ns);  // pid 0: not known

  Options options_;
  Sink sink_;
  pid_t pid_;
  UniqueFd process_;  // a pidfd; none: it has ended
  std::unique_ptr<PerfEvents> events_;
  bool is_attached_ = false;
  bool scan_ = false;        // for threads that began before those that begin them were sampled
  std::set<pid_t> threads_;  // that are sampled
  CpuAccount account_;
  RunTimes run_times_;
  std::vector<std::uint64_t> counted_;  // [counter]: what samples stand for so far
  std::uint64_t next_rest_ns_ = 0;
  Waits waits_;
  ShortWaits short_waits_;
  std::uint64_t waits_given_until_ns_ = 0;
  std::chrono::nanoseconds look_;  // until the next one
  int quick_looks_ = 0;            // so many until they may become rarer
  int deep_samples_;               // so many until wake-ups may become rarer
  unwind::TableCache tables_;
  unwind::Unwinder unwinder_;
  ProcessMaps maps_;
  ModuleList modules_;
  ThreadList thread_list_;
  // Time of ended threads that has not been attributed yet.
  struct LeftOver {
    pid_t pid = 0;
    pid_t tid = 0;
    std::uint64_t ns = 0;
  };
  std::deque<LeftOver> left_over_;
  SamplerCounts counts_;
  std::uint64_t last_time_ = 0;
  TicksOfTime ticks_;
  unwind::Stack stack_;
  Sample sample_;
};

}  // namespace fieldcost::sampler

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

#include "agent/perf/counter.h"
#include "agent/perf/module_list.h"
#include "agent/perf/perf_events.h"
#include "agent/perf/perf_record.h"
#include "agent/perf/process_maps.h"
#include "agent/trace/cpu_account.h"
#include "agent/trace/run_times.h"
#include "agent/trace/short_waits.h"
#include "agent/trace/thread_list.h"
#include "agent/trace/thunk_records.h"
#include "agent/trace/wait_copies.h"
#include "agent/trace/wait_tracker.h"
#include "agent/unwind/unwinder.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::trace {

struct Sample {
  enum class Kind { kCpu, kWait, kCounter };
  Kind kind = Kind::kCpu;
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC; for a wait, or a part of one: its end
  pid_t pid = 0;              // 0: several processes
  pid_t tid = 0;
  std::uint32_t cpu = 0;
  std::uint64_t weight_ns = 0;  // CPU time that it represents, or duration of the wait until then
  std::size_t counter = 0;      // if kCounter: index into Sampler::Options::counters
  std::uint64_t events = 0;     // if kCounter: events that it represents
  std::vector<perf::SampledFrame> frames;  // innermost first
  // If not null, a special frame (common/tree/frame.h): what the innermost frame did outside the
  // process's code or, without frames, the whole path.
  const char* special = nullptr;
  unwind::StackEnd end = unwind::StackEnd::kBroken;
};

// Special frames that only samples have.
// CPU time of less than a period, when a thread or the recording ends. For a counter, at the end of
// the recording: events not represented by a sample.
inline constexpr char kUnsampled[] = "[unsampled]";
// Waits of less than Sampler::kLongWait.
inline constexpr char kShortWaits[] = "[short waits]";
// Longer waits that ended before their stack was read, or whose process may not be read.
inline constexpr char kWaitsWithoutStack[] = "[waits without a stack]";
// A thread was runnable, and had no CPU.
inline constexpr char kPreempted[] = "[preempted]";

struct SamplerCounts {
  std::uint64_t samples = 0;       // of CPU time
  std::uint64_t waits = 0;         // of kLongWait and more
  std::uint64_t missed_waits = 0;  // of these, waits without a stack
  std::uint64_t lost = 0;          // records for which the kernel had no room
  std::uint64_t unreadable = 0;    // records that could not be parsed
  std::uint64_t of_32_bit = 0;     // samples of programs that are not 64-bit: dropped
  std::uint64_t out_of_order = 0;  // records that arrived after one with a later time
};

// Samples the stacks of a process and its descendants, using one inherited task-clock event per CPU
// and the kernel's switch records. Nothing is injected into the process, and it is not stopped.
// Unwinds at once, in order of time. Needs only perf_event_paranoid <= 2 and, for stacks deeper
// than the copy and those of waits, the right to ptrace. Not thread-safe.
//
// The samples of CPU time add up to the kernel's count, in user and kernel mode. If this process
// may see samples of kernel mode (paranoid <= 1, or root), they have the stack that led there and
// the special frame [kernel]; otherwise [kernel] is a single path without a stack. Waits add up to
// the time in which threads had no CPU, after they first got one. A long wait is reported in parts
// of at most kLongestPart while it lasts. Waits of one thread do not overlap: a wait lasts from
// time_ns - weight_ns to time_ns. Waits below kLongWait are added up and reported every 100 ms, as
// if they had been consecutive up to the end of the last one. Samples of a counter add up to its
// count in user mode.
class Sampler {
 public:
  static constexpr auto kLongWait = std::chrono::milliseconds(1);
  static constexpr auto kLongestPart = std::chrono::seconds(1);

  struct Options {
    std::uint64_t period_ns = 1'003'009;       // of CPU time; out of step with timers
    std::uint32_t stack_bytes = 16 * 1024;     // of the copy; a multiple of 8, at most 65,528 - 8
    std::size_t ring_bytes = 512 * 1024;       // per CPU; a power of two, in whole pages
    std::vector<perf::Counter> counters = {};  // those that pass CheckCounters(), each once
    unwind::TableCache::Options tables = {};
  };
  using Sink = std::function<void(const Sample&)>;

  // Samples a process from its next exec on, until it and its descendants have ended. Returns
  // kPermissionDenied or kUnsupported, with a message that states what is missing.
  static Result<std::unique_ptr<Sampler>> OfNextExec(pid_t pid, Options options, Sink sink);
  // Samples a running process, all its threads and everything that they start from now on, until it
  // ends. Returns kNotFound if there is no such process.
  static Result<std::unique_ptr<Sampler>> OfRunning(pid_t pid, Options options, Sink sink);

  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Waits for records, at most `limit` or until a signal, and passes on the samples. Returns false
  // once the target has ended and all samples have been passed on.
  Result<bool> Wait(std::chrono::milliseconds limit);
  // Passes on everything that remains, including waits in progress. Wait() must not follow.
  void Finish();

  const std::vector<perf::SampledModule>& modules() const { return modules_.all(); }
  // Returns the names of threads as of the latest sample passed on.
  ThreadList& thread_list() { return thread_list_; }
  const SamplerCounts& counts() const { return counts_; }
  // All waits that end until then have been passed on, provided that the kernel's records arrived
  // in order.
  std::uint64_t waits_given_until_ns() const { return waits_given_until_ns_; }

 private:
  struct Stack {
    std::vector<perf::SampledFrame> frames;
    unwind::StackEnd end = unwind::StackEnd::kBroken;
  };
  using Waits = WaitTracker<Stack>;
  Sampler(pid_t pid, Options options, std::unique_ptr<perf::PerfEvents> events, Sink sink);
  static Result<std::unique_ptr<Sampler>> Of(pid_t pid, Options options, bool from_next_exec,
                                             Sink sink);
  // Adds threads that are not known yet. Returns whether there were any.
  Result<bool> AddThreads(const std::vector<pid_t>& threads);
  void Drain(std::uint64_t until_ns);
  void Take(const perf::PerfRecord& record, std::size_t ring);
  void TakeSample(const perf::SampleRecord& record, std::uint64_t time);
  void TakeSwitch(const perf::SwitchRecord& record, std::size_t ring, std::uint64_t time);
  void TakeExit(const perf::ExitRecord& record, std::uint64_t time);
  void TakeMap(const perf::MapRecord& record);
  // Builds the table of the module mapped there. Meanwhile, empties rings and copies stacks of
  // waits.
  void MakeTable(unwind::ModuleMap& map, std::uint64_t address);
  // Unwinds the copied stack of the thread's wait, which ends at `time`, if it has no other one.
  void UseCopy(pid_t pid, pid_t tid, std::uint64_t time);
  Waits::Read ReadOf(unwind::ModuleMap& map, std::uint64_t time);  // from stack_
  void TakeWait(Waits::Wait wait);
  void GiveWait(Waits::Wait wait);
  void GiveShortWaits(const std::vector<ShortWaits::Span>& spans);
  // Passes on the elapsed parts of waits in progress, and all sums of short waits.
  void GivePassed(std::uint64_t time);
  void ReadWaits();
  void PlanNextLook(double fill);
  // Passes on CPU time that no sample represents.
  void TakeRest(std::uint64_t time, std::uint64_t counted_ns);
  void TakeRestOfCounters(std::uint64_t time);
  // Passes on a sample whose path has only the frame `special`. pid 0: it belongs to no thread.
  void GiveSpecial(const char* special, std::uint64_t time, std::uint64_t value, pid_t pid = 0,
                   pid_t tid = 0);
  void TakeEnd(pid_t pid, pid_t tid, std::uint64_t run_ns);  // pid 0: unknown

  Options options_;
  Sink sink_;
  pid_t pid_;
  UniqueFd process_;  // a pidfd; invalid once the process has ended
  std::unique_ptr<perf::PerfEvents> events_;
  bool is_attached_ = false;
  bool scan_ = false;        // for threads started by threads that were not sampled yet
  std::set<pid_t> threads_;  // the sampled ones
  CpuAccount account_;
  RunTimes run_times_;
  std::vector<std::uint64_t> counted_;  // [counter]: events represented by samples so far
  std::uint64_t next_rest_ns_ = 0;
  Waits waits_;
  WaitCopies copies_;
  ShortWaits short_waits_;
  std::uint64_t waits_given_until_ns_ = 0;
  std::chrono::nanoseconds look_;  // until the next read
  int quick_looks_ = 0;            // remaining short intervals before they may grow
  int deep_samples_;               // remaining samples before wake-ups stop
  unwind::TableCache tables_;
  unwind::Unwinder unwinder_;
  perf::ProcessMaps maps_;
  perf::ModuleList modules_;
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

}  // namespace fieldcost::trace

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/sampler/perf_record.h"
#include "agent/sampler/perf_ring.h"
#include "agent/sampler/thunk_records.h"
#include "common/base/file.h"
#include "common/base/result.h"
#include "common/unwind/unwinder.h"

namespace fieldcost::sampler {

// Where a frame is, in a form that does not change from run to run: an address as its module's file
// names it.
struct SampledFrame {
  std::uint32_t module = 0;   // index into Sampler::modules()
  std::uint64_t address = 0;  // inside the instruction that the frame is at
  bool guessed = false;       // by a frame pointer
};

struct SampledModule {
  enum class Kind {
    kFile,       // addresses as its file names them
    kRaw,        // a file that could not be read: offsets in it
    kGenerated,  // of no file: addresses of the process `pid`
    kUnknown,    // of no memory that is known: addresses as they are
  };
  Kind kind = Kind::kUnknown;
  std::string path;                         // untrusted; as the process sees it; "[vdso]"
  std::string build_id;                     // empty: none
  pid_t pid = 0;                            // of kGenerated
  const unwind::CfiTable* table = nullptr;  // of kFile; lives as long as the Sampler
};

struct Sample {
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  pid_t pid = 0;
  pid_t tid = 0;
  std::uint32_t cpu = 0;
  std::uint64_t weight_ns = 0;       // CPU time that it stands for, of user mode
  std::vector<SampledFrame> frames;  // innermost first
  unwind::StackEnd end = unwind::StackEnd::kBroken;
};

struct SamplerCounts {
  std::uint64_t samples = 0;
  std::uint64_t lost = 0;          // records that the kernel had no room for
  std::uint64_t unreadable = 0;    // records that were not understood
  std::uint64_t of_32_bit = 0;     // samples of other programs than 64-bit ones: not given
  std::uint64_t out_of_order = 0;  // records that came later than one with a later time
};

// Samples user stacks of a process and its descendants: a task-clock event and a ring a CPU,
// inherited. Nothing is put into the process, which is not stopped. Unwinds at once, in order of
// time. Needs no rights beyond perf_event_paranoid <= 2 and, for stacks deeper than the copy,
// ptrace's. Not thread-safe.
class Sampler {
 public:
  struct Options {
    std::uint64_t period_ns = 1'003'009;    // of CPU time; not in step with timers
    std::uint32_t stack_bytes = 16 * 1024;  // of the copy; a multiple of 8, at most 65,528 - 8
    std::size_t ring_bytes = 512 * 1024;    // a CPU; a power of two, of pages
  };
  using Sink = std::function<void(const Sample&)>;

  // The process must not have run what is to be sampled: sampling begins with its next exec.
  // kPermissionDenied and kUnsupported say what is missing.
  static Result<std::unique_ptr<Sampler>> OfNextExec(pid_t pid, Options options, Sink sink);

  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Waits for records, at most so long, and gives what came. False: nothing of the process is left
  // to sample (all that came was given).
  Result<bool> Wait(std::chrono::milliseconds limit);

  const std::vector<SampledModule>& modules() const { return modules_; }
  const SamplerCounts& counts() const { return counts_; }

 private:
  struct Cpu;

  Sampler(Options options, Sink sink);
  Status Open(pid_t pid, int cpu);
  // All records that are there, of all CPUs, by time.
  void Drain();
  void Take(const PerfRecord& record);
  void TakeSample(const SampleRecord& record, std::uint64_t time);
  void TakeFork(const ForkRecord& record);
  unwind::ModuleMap& MapOf(pid_t pid);
  SampledFrame FrameOf(unwind::ModuleMap& map, const unwind::Frame& frame);
  std::uint32_t ModuleOf(SampledModule module);

  Options options_;
  Sink sink_;
  std::vector<std::unique_ptr<Cpu>> cpus_;
  unwind::TableCache tables_;
  unwind::Unwinder unwinder_;
  std::map<pid_t, unwind::ModuleMap> maps_;
  std::vector<SampledModule> modules_;
  std::map<std::string, std::uint32_t> module_of_;
  std::map<const unwind::CfiTable*, std::uint32_t> module_of_table_;
  SamplerCounts counts_;
  std::uint64_t last_time_ = 0;
  TicksOfTime ticks_;
  unwind::Stack stack_;
  Sample sample_;
};

}  // namespace fieldcost::sampler

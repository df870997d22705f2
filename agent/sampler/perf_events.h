#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "agent/sampler/counter.h"
#include "agent/sampler/perf_record.h"
#include "agent/sampler/perf_ring.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::sampler {

// The kernel's side of sampling: a ring a CPU, into which the events of all threads that were
// added, and of what they start, write samples: a task-clock, which writes switches and what
// happens to processes, too, and counters. Not thread-safe.
class PerfEvents {
 public:
  struct Options {
    std::uint64_t period_ns = 0;  // 0: no samples, only what happens to threads and processes
    std::uint32_t stack_bytes = 0;
    std::size_t ring_bytes = 0;
    bool from_next_exec = false;         // else at once
    bool switches = true;                // tell of them
    std::vector<Counter> counters = {};  // those that pass CheckCounters()
  };
  // Events: the task-clock, then counters in their order.
  static constexpr std::size_t kClock = 0;
  // A record and the number of its ring.
  using Sink = std::function<void(const PerfRecord&, std::size_t ring)>;
  struct Seen {
    std::uint64_t unreadable = 0;  // records that were not understood
    double fill = 0;               // of the fullest ring, 0 to 1, before it was emptied
  };

  // Makes the rings. kPermissionDenied and kUnsupported say what is missing.
  static Result<std::unique_ptr<PerfEvents>> Create(Options options);
  ~PerfEvents();
  PerfEvents(const PerfEvents&) = delete;
  PerfEvents& operator=(const PerfEvents&) = delete;

  // A thread, and what it starts from now on. kNotFound: it is gone.
  Status Add(pid_t tid);
  // All that happens on all CPUs, of whoever; who switches pays nothing for it. kPermissionDenied:
  // only root may, or CAP_PERFMON. REQUIRES: no samples, no counters.
  Status AddAll();

  // True: samples tell of the kernel, too. Known after Add().
  bool sees_kernel() const { return sees_kernel_; }

  // Waits until `or_fd` (-1: none) can be read, with `each_sample` also until a sample is there, at
  // most so long, or until a signal. Whether `or_fd` can be read.
  Result<bool> Wait(std::chrono::nanoseconds limit, bool each_sample, int or_fd);
  // No thread is left that could write.
  bool AllEnded();

  std::size_t rings() const { return rings_.size(); }
  std::uint32_t CpuOf(std::size_t ring) const;
  // How much the kernel has written there so far, in bytes. Any thread may ask.
  std::uint64_t Written(std::size_t ring) const;

  // Records up to that time (CLOCK_MONOTONIC) of all rings, by time: what is later may not yet be
  // complete.
  Seen Drain(std::uint64_t until_ns, const Sink& sink);

  // Empties the rings into memory, up to kMostStashedBytes of it: for one who is busy otherwise, so
  // that the kernel has room. Drain() gives what was put there first. With `deep`, what lies behind
  // the copies of stacks is read, too, before it changes. A sink may call it, if it does not use
  // what its record points to any more.
  static constexpr std::size_t kMostStashedBytes = std::size_t{64} << 20;
  void Stash(bool deep);

  // What an event has counted so far, of threads that have ended too. kClock: CPU time, user's and
  // kernel's. (inherit_stat would tell it of each thread, but what events with it count is too
  // little.)
  std::uint64_t Counted(std::size_t event) const;
  void Stop();  // nothing is written or counted from now on

 private:
  struct Ring;

  explicit PerfEvents(Options options);
  Status MakeRing(int cpu);
  perf_event_attr AttributesOf(std::size_t event) const;
  Result<UniqueFd> Open(std::size_t event, pid_t tid, int cpu);
  Status Add(std::size_t event, pid_t tid, Ring& ring);
  // Says which event a sample is of; false: of none.
  bool TellEvent(PerfRecord& untrusted_record) const;

  Options options_;
  std::vector<std::uint64_t> periods_;                       // [event]
  std::unordered_map<std::uint64_t, std::size_t> event_of_;  // by id
  bool sees_kernel_ = true;
  std::size_t stashed_bytes_ = 0;
  std::vector<std::unique_ptr<Ring>> rings_;
};

}  // namespace fieldcost::sampler

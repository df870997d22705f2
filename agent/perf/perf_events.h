#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "agent/perf/counter.h"
#include "agent/perf/perf_record.h"
#include "agent/perf/perf_ring.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::perf {

// The kernel's side of sampling: one ring per CPU, to which the events of all added threads and
// their descendants write. The events are a task-clock, which also writes switches and process
// events, and counters. Not thread-safe.
class PerfEvents {
 public:
  struct Options {
    std::uint64_t period_ns = 0;  // 0: no samples, only thread and process events
    std::uint32_t stack_bytes = 0;
    std::size_t ring_bytes = 0;
    bool from_next_exec = false;         // false: at once
    bool switches = true;                // write switch records
    std::vector<Counter> counters = {};  // those that pass CheckCounters()
  };
  // Event numbers: the task-clock, then the counters in their order.
  static constexpr std::size_t kClock = 0;
  // Takes a record and the number of its ring.
  using Sink = std::function<void(const PerfRecord&, std::size_t ring)>;
  struct Seen {
    std::uint64_t unreadable = 0;  // records that could not be parsed
    double fill = 0;               // of the fullest ring, 0 to 1, before it was emptied
  };

  // Creates the rings. Returns kPermissionDenied or kUnsupported, with a message that states what
  // is missing.
  static Result<std::unique_ptr<PerfEvents>> Create(Options options);
  ~PerfEvents();
  PerfEvents(const PerfEvents&) = delete;
  PerfEvents& operator=(const PerfEvents&) = delete;

  // Adds a thread, and everything that it starts from now on. Returns kNotFound if it has ended.
  Status Add(pid_t tid);
  // Adds all threads on all CPUs, at no extra cost per switch. Returns kPermissionDenied without
  // root or CAP_PERFMON. REQUIRES: no samples, no counters.
  Status AddAll();

  // Returns whether there are samples of kernel mode, too. Known after Add().
  bool sees_kernel() const { return sees_kernel_; }

  // Waits until `or_fd` (-1: none) is readable, a signal arrives or, with `each_sample`, a sample
  // was written; at most `limit`. Returns whether `or_fd` is readable.
  Result<bool> Wait(std::chrono::nanoseconds limit, bool each_sample, int or_fd);
  // Returns whether all threads that could write have ended.
  bool AllEnded();

  std::size_t rings() const { return rings_.size(); }
  std::uint32_t CpuOf(std::size_t ring) const;
  // Returns how many bytes the kernel has written to the ring so far. Thread-safe.
  std::uint64_t Written(std::size_t ring) const;

  // Passes on the records of all rings up to that time (CLOCK_MONOTONIC), ordered by time; later
  // records may be incomplete.
  Seen Drain(std::uint64_t until_ns, const Sink& sink);

  // Moves the rings' records to memory, up to kMostStashedBytes, so that the kernel has room while
  // the reader is busy. Drain() passes these records on first. With `deep`, also reads the memory
  // beyond the copies of stacks before it changes. Also passes switches to `sink`, which are
  // ordered only within a ring. May be called by a sink that no longer uses the memory to which its
  // record points.
  static constexpr std::size_t kMostStashedBytes = std::size_t{64} << 20;
  using SwitchSink = std::function<void(const SwitchRecord&, std::uint64_t time)>;
  void Stash(bool deep, const SwitchSink& sink);

  // Returns an event's count so far, including ended threads. kClock: CPU time in user and kernel
  // mode. (inherit_stat would report it per thread, but such events count too little.)
  std::uint64_t Counted(std::size_t event) const;
  void Stop();  // ends all writing and counting

 private:
  struct Ring;

  explicit PerfEvents(Options options);
  Status MakeRing(int cpu);
  perf_event_attr AttributesOf(std::size_t event) const;
  Result<UniqueFd> Open(std::size_t event, pid_t tid, int cpu);
  Status Add(std::size_t event, pid_t tid, Ring& ring);
  // Sets the event of a sample. Returns false if the sample belongs to none of the events.
  bool TellEvent(PerfRecord& untrusted_record) const;

  Options options_;
  std::vector<std::uint64_t> periods_;                       // [event]
  std::unordered_map<std::uint64_t, std::size_t> event_of_;  // by id
  bool sees_kernel_ = true;
  std::size_t stashed_bytes_ = 0;
  std::vector<std::unique_ptr<Ring>> rings_;
};

}  // namespace fieldcost::perf

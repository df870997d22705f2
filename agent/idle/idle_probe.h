#pragma once

#include <sched.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "agent/idle/idle_clock.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::idle_agent {

// The result of one check of a CPU. Times are CLOCK_MONOTONIC.
struct CpuLook {
  std::uint64_t begin_ns = 0;  // the time of the previous check
  std::uint64_t end_ns = 0;
  bool idle = false;  // an idle tick: idle time worth a tick has accumulated
  bool operator==(const CpuLook&) const = default;
};

// Passes results of checks from one thread to another, lock-free.
class LookRing {
 public:
  static constexpr std::size_t kMost = 4096;

  // Returns false if it is full.
  bool Push(const CpuLook& look);
  std::optional<CpuLook> Pop();

 private:
  std::array<CpuLook, kMost> looks_;
  std::atomic<std::uint64_t> pushed_{0};
  std::atomic<std::uint64_t> popped_{0};
};

// Detects when CPUs are idle. A SCHED_IDLE thread on each CPU checks it at each multiple of the
// tick of CLOCK_MONOTONIC. That the thread runs does not prove that the CPU was idle: the kernel
// may briefly preempt other threads for it, especially those of other sessions and control groups.
// So it reads how long the CPU has been idle (IdleClock) and adds that up: whenever a tick's worth,
// rounded, has accumulated, the check is an idle tick.
//
// No thread waits for another. Must be called by one thread.
class IdleProbe {
 public:
  struct Options {
    std::uint64_t tick_ns = 0;
    // Returns a value that changes whenever there is activity on the CPU. Called on the probe's
    // threads; must not block. Empty: assumes constant activity.
    std::function<std::uint64_t(std::uint32_t cpu)> activity = {};
  };

  // Starts a thread on each CPU that the calling thread may use. Returns kUnsupported if idle time
  // cannot be measured here.
  static Result<std::unique_ptr<IdleProbe>> Start(Options options);
  ~IdleProbe();
  IdleProbe(const IdleProbe&) = delete;
  IdleProbe& operator=(const IdleProbe&) = delete;

  const std::vector<std::uint32_t>& cpus() const { return numbers_; }
  IdleClock::Source source() const { return source_; }

  // Becomes readable once a CPU has been idle and had activity since the last time. Reset by
  // Take().
  int fd() const { return event_.get(); }

  // Passes on the checks since the previous call, in ascending order per CPU.
  using Sink = std::function<void(std::uint32_t cpu, const CpuLook& look)>;
  void Take(const Sink& sink);

  // Ends the threads, which takes one tick; on busy machines, it takes until they get a CPU. Take()
  // may follow.
  void Stop();

  // The number of checks dropped because a ring was full.
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Cpu;

  explicit IdleProbe(Options options);
  Status StartOn(std::uint32_t number);
  void Run(Cpu& cpu, IdleClock& clock);
  void Tell(Cpu& cpu, const CpuLook& look);

  Options options_;
  UniqueFd event_;
  IdleClock::Source source_ = IdleClock::Source::kStates;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::unique_ptr<Cpu>> cpus_;
  std::atomic<bool> is_over_{false};
  std::atomic<std::uint64_t> dropped_{0};
};

// Returns the CPUs that this thread may use.
std::vector<std::uint32_t> UsableCpus();

// Blocks all signals in this thread; other threads handle them.
void BlockSignals();

// Pins this thread to the CPU. Returns false if that is not permitted or there is no such CPU.
bool PinTo(std::uint32_t cpu);

}  // namespace fieldcost::idle_agent

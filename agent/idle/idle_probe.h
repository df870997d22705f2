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

// A look at a CPU. CLOCK_MONOTONIC.
struct CpuLook {
  std::uint64_t begin_ns = 0;  // when it was looked at before
  std::uint64_t end_ns = 0;
  bool idle = false;  // it was idle for a tick of time, within this
  bool operator==(const CpuLook&) const = default;
};

// Looks from one thread to another, without locks.
class LookRing {
 public:
  static constexpr std::size_t kMost = 4096;

  // False: it is full.
  bool Push(const CpuLook& look);
  std::optional<CpuLook> Pop();

 private:
  std::array<CpuLook, kMost> looks_;
  std::atomic<std::uint64_t> pushed_{0};
  std::atomic<std::uint64_t> popped_{0};
};

// When CPUs are idle: a thread on each, which runs only while nobody else wants to (SCHED_IDLE),
// looks at each multiple of a tick of CLOCK_MONOTONIC. That it runs does not say that the CPU was
// idle: the kernel may take it from others for a moment, above all from other sessions and control
// groups. So it asks how long the CPU has been idle (IdleClock) and adds that up: each time that a
// tick's worth has come together, to the nearest, is an idle tick.
//
// Nobody waits for anybody. One thread may call it.
class IdleProbe {
 public:
  struct Options {
    std::uint64_t tick_ns = 0;
    // Something that changes with what happens on the CPU. Called on the probe's threads, which it
    // must not hold up. Empty: something happens all the time.
    std::function<std::uint64_t(std::uint32_t cpu)> activity = {};
  };

  // Starts them on the CPUs that this thread may use now. kUnsupported: it cannot be known here.
  static Result<std::unique_ptr<IdleProbe>> Start(Options options);
  ~IdleProbe();
  IdleProbe(const IdleProbe&) = delete;
  IdleProbe& operator=(const IdleProbe&) = delete;

  const std::vector<std::uint32_t>& cpus() const { return numbers_; }
  IdleClock::Source source() const { return source_; }

  // Can be read once a CPU has been idle, and something had happened there since this was so
  // before. Reset by Take().
  int fd() const { return event_.get(); }

  // Looks that came, ascending of each CPU.
  using Sink = std::function<void(std::uint32_t cpu, const CpuLook& look)>;
  void Take(const Sink& sink);

  // Ends the threads, which takes a tick or, where a CPU is busy, until they get one. Take() may
  // follow.
  void Stop();

  // Looks for which there was no room.
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

// The CPUs that this thread may use.
std::vector<std::uint32_t> UsableCpus();

// Blocks all signals in this thread: they are for those that handle them.
void BlockSignals();

// Keeps this thread on the CPU. False: it may not, or there is none.
bool PinTo(std::uint32_t cpu);

}  // namespace fieldcost::idle_agent

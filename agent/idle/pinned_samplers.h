#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "agent/idle/idle_clock.h"
#include "agent/idle/idle_probe.h"
#include "agent/idle/mask_journal.h"
#include "agent/sampler/wait_stack.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::idle_agent {

// A thread a CPU, pinned to it, before all others there (SCHED_FIFO), with a timer of its own. At
// each tick that finds its CPU idle it asks whose stack it is to take; with the answer it keeps
// that thread on its CPU, where it cannot run meanwhile, copies its stack, and gives it its mask
// back. Other CPUs have nothing to do with it.
//
// At most one sample a CPU is outstanding, from the question until the copy was taken from here. A
// tick that comes meanwhile is deferred: it asks again once that is done.
//
// One thread may call it.
class PinnedSamplers {
 public:
  struct Options {
    std::uint64_t tick_ns = 0;
    // Called while a thread is kept on its CPU: for tests.
    std::function<void()> while_pinned = {};
  };
  struct Sample {
    std::uint32_t cpu = 0;
    pid_t tid = 0;
    std::uint64_t time_ns = 0;              // when it had been taken
    std::optional<sampler::WaitCopy> copy;  // none: it did not wait any more
  };

  // Starts a thread on each CPU that this thread may use now. kPermissionDenied: no real-time
  // priority. REQUIRES: `journal` outlives this.
  static Result<std::unique_ptr<PinnedSamplers>> Start(Options options, MaskJournal& journal);
  ~PinnedSamplers();
  PinnedSamplers(const PinnedSamplers&) = delete;
  PinnedSamplers& operator=(const PinnedSamplers&) = delete;

  // Can be read once something was asked, or a sample taken. Reset by Take().
  int fd() const { return event_.get(); }
  // Looks that came, ascending of each CPU.
  void Take(const IdleProbe::Sink& sink);
  // CPUs that ask whose stack they are to take.
  std::vector<std::uint32_t> Asking();
  // The answer: that thread's, or nobody's.
  void Answer(std::uint32_t cpu, pid_t pid, pid_t tid);
  void AnswerNobody(std::uint32_t cpu);
  // Samples that were taken; their CPUs may ask again.
  std::vector<Sample> Samples();

  // Ends the threads; all masks are as they were.
  void Stop();

  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  std::uint64_t deferred() const { return deferred_.load(std::memory_order_relaxed); }

 private:
  // What a CPU's sample is at.
  enum class Phase { kNone, kAsked, kAnswered, kTaken };
  struct Cpu;

  PinnedSamplers(Options options, MaskJournal& journal);
  Status StartOn(std::uint32_t number);
  void Run(Cpu& cpu);
  void Tick(Cpu& cpu);
  void TakeSample(Cpu& cpu);
  void Ask(Cpu& cpu);
  // Ends its sample; what was deferred asks now.
  void Release(Cpu& cpu);
  void Notify();
  Cpu* Find(std::uint32_t number);

  Options options_;
  MaskJournal& journal_;
  UniqueFd event_;
  std::vector<std::unique_ptr<Cpu>> cpus_;
  std::atomic<bool> is_over_{false};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> deferred_{0};
};

}  // namespace fieldcost::idle_agent

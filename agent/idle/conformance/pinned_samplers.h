#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "agent/idle/conformance/mask_journal.h"
#include "agent/idle/idle_clock.h"
#include "agent/idle/idle_probe.h"
#include "agent/perf/wait_stack.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::idle_agent {

// One thread per CPU, pinned to it, with priority over all others there (SCHED_FIFO) and its own
// timer. At each tick that finds its CPU idle, it asks which thread to sample. Given the answer, it
// keeps that thread on its CPU, where the thread cannot run in the meantime, copies its stack, and
// restores its mask. Other CPUs are not involved.
//
// At most one sample per CPU is outstanding: from the question until Samples() has returned the
// copy. A tick that occurs meanwhile is deferred: it asks once the sample is done.
//
// Must be called by one thread.
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
    std::uint64_t time_ns = 0;           // when the copy was complete
    std::optional<perf::WaitCopy> copy;  // nullopt: the thread no longer waited
  };

  // Starts a thread on each CPU that this thread may use now. Returns kPermissionDenied without
  // permission for a real-time priority. REQUIRES: `journal` outlives this.
  static Result<std::unique_ptr<PinnedSamplers>> Start(Options options, MaskJournal& journal);
  ~PinnedSamplers();
  PinnedSamplers(const PinnedSamplers&) = delete;
  PinnedSamplers& operator=(const PinnedSamplers&) = delete;

  // Becomes readable once a thread asks or has taken a sample. Reset by Take().
  int fd() const { return event_.get(); }
  // Passes on the checks since the previous call, in ascending order per CPU.
  void Take(const IdleProbe::Sink& sink);
  // Returns the CPUs that are asking which thread to sample.
  std::vector<std::uint32_t> Asking();
  // Answer the question: sample that thread, or none.
  void Answer(std::uint32_t cpu, pid_t pid, pid_t tid);
  void AnswerNobody(std::uint32_t cpu);
  // Returns the samples taken; their CPUs may ask again.
  std::vector<Sample> Samples();

  // Ends the threads. All masks are restored when it returns.
  void Stop();

  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  std::uint64_t deferred() const { return deferred_.load(std::memory_order_relaxed); }

 private:
  // The state of a CPU's sample.
  enum class Phase { kNone, kAsked, kAnswered, kTaken };
  struct Cpu;

  PinnedSamplers(Options options, MaskJournal& journal);
  Status StartOn(std::uint32_t number);
  void Run(Cpu& cpu);
  void Tick(Cpu& cpu);
  void TakeSample(Cpu& cpu);
  void Ask(Cpu& cpu);
  // Ends the CPU's sample; if a tick was deferred, asks for it now.
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

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/idle/idle_account.h"
#include "agent/idle/idle_probe.h"
#include "agent/idle/idle_thread_state.h"

namespace fieldcost::idle_agent {

// Guesses which thread left a CPU idle, where the kernel does not report switches: of the waiting
// threads that last ran there, the one that ran last. Where that time is unknown, the threads that
// ran in the latest interval between checks take turns. While a thread that does not wait is on the
// CPU, the candidates are those of the previous check. Guesses likewise which thread resumed. Pure;
// not thread-safe.
class CandidateAccount {
 public:
  explicit CandidateAccount(std::uint64_t tick_ns) : tick_ns_(tick_ns) {}

  // Takes the current states of all threads, and the checks of CPUs since the previous call.
  void Take(const std::vector<ThreadState>& states,
            const std::vector<std::pair<std::uint32_t, CpuLook>>& looks, std::uint64_t time_ns);
  // Returns the waits whose stacks must be read now, each once. The caller sets their state.
  std::vector<WaitPointer> ToRead();
  // Returns the reports since the previous call.
  std::vector<IdleAccount::Told> Tell() { return std::exchange(told_, {}); }

 private:
  struct Thread {
    ThreadState state;
    std::uint64_t ran = 0;  // when it last ran, or the number of the check that noticed it
    WaitPointer wait;       // null: it does not wait
    int refusals = 0;       // waits in a row without an available stack
    std::uint64_t seen = 0;
  };
  struct Cpu {
    std::vector<WaitPointer> candidates;
    std::vector<WaitPointer> gone_on;  // waits that ended since the previous check
    bool is_used = false;              // by a thread that does not wait: ticks precede it
    bool owes = false;  // idle time was reported, but no thread that resumed after it
    std::uint64_t turn = 0;
    std::uint64_t last_tick = 0;
  };

  void TakeStates(const std::vector<ThreadState>& states);
  void FindCandidates();
  void TellWhoGoesOn(std::uint32_t number, Cpu& cpu, std::uint64_t time_ns);
  void TakeIdle(std::uint32_t number, Cpu& cpu, const CpuLook& look);

  std::uint64_t tick_ns_;
  std::uint64_t looks_ = 0;
  bool was_idle_ = false;  // whether any CPU was idle in the latest checks
  std::unordered_map<pid_t, Thread> threads_;
  std::map<std::uint32_t, Cpu> cpus_;
  std::vector<WaitPointer> wanted_;
  std::deque<WaitPointer> recent_;
  std::vector<IdleAccount::Told> told_;
};

}  // namespace fieldcost::idle_agent

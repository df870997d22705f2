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
#include "agent/idle/thread_state.h"

namespace fieldcost::idle_agent {

// Guesses who left a CPU idle, where the kernel does not tell of switches: of those who wait and
// ran there before, the one who ran last; where it is not known when, those who have run there
// since the last look but none, in turn. Where somebody does not wait now, it is as it was at the
// look before. Likewise who went on. Pure; not thread-safe.
class CandidateAccount {
 public:
  explicit CandidateAccount(std::uint64_t tick_ns) : tick_ns_(tick_ns) {}

  // What threads do now, all of them, and looks at CPUs since the time before.
  void Take(const std::vector<ThreadState>& states,
            const std::vector<std::pair<std::uint32_t, CpuLook>>& looks, std::uint64_t time_ns);
  // Waits whose stacks are to be read now; their state is to be set. Each wait once.
  std::vector<WaitPointer> ToRead();
  // What was found out.
  std::vector<IdleAccount::Told> Tell() { return std::exchange(told_, {}); }

 private:
  struct Thread {
    ThreadState state;
    std::uint64_t ran = 0;  // when it ran last, or the number of the look that found it had
    WaitPointer wait;       // null: it does not
    int refusals = 0;       // so often in a row it gave no stack
    std::uint64_t seen = 0;
  };
  struct Cpu {
    std::vector<WaitPointer> candidates;
    std::vector<WaitPointer> gone_on;  // since the look before
    bool is_used = false;              // by a thread that does not wait: ticks were before it did
    bool owes = false;
    std::uint64_t turn = 0;
    std::uint64_t last_tick = 0;
  };

  void TakeStates(const std::vector<ThreadState>& states);
  void FindCandidates();
  void TellWhoGoesOn(std::uint32_t number, Cpu& cpu, std::uint64_t time_ns);
  void TakeIdle(std::uint32_t number, Cpu& cpu, const CpuLook& look);

  std::uint64_t tick_ns_;
  std::uint64_t looks_ = 0;
  bool was_idle_ = false;  // a CPU, by the last ones
  std::unordered_map<pid_t, Thread> threads_;
  std::map<std::uint32_t, Cpu> cpus_;
  std::vector<WaitPointer> wanted_;
  std::deque<WaitPointer> recent_;
  std::vector<IdleAccount::Told> told_;
};

}  // namespace fieldcost::idle_agent

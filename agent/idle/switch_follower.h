#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/idle/collector.h"
#include "agent/idle/idle_account.h"
#include "agent/idle/wait_stacks.h"
#include "agent/sampler/perf_events.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::idle_agent {

// Follows which monitored threads have which CPUs, as the kernel tells (perf_event_open(2), which
// needs no rights where kernel.perf_event_paranoid is 2 or less), and with looks at CPUs, what was
// idle because of whom. Nothing is put into the programs, and nobody is stopped. Not thread-safe.
class SwitchFollower {
 public:
  // A target of all processes is kUnsupported. Errors of sampler::PerfEvents. REQUIRES: `writer`
  // outlives this.
  static Result<std::unique_ptr<SwitchFollower>> Create(const Target& target, IdleWriter& writer);

  // Whether the kernel tells this process of switches at all.
  static bool IsAllowed();

  // Waits until `fd` can be read, the process ends, or a signal comes; at most so long.
  Status Wait(std::chrono::milliseconds limit, int fd);
  // Takes what happened until now, and looks at CPUs until then.
  struct LookAt {
    std::uint32_t cpu = 0;
    CpuLook look;
  };
  void Follow(const std::vector<LookAt>& looks);
  // Reads stacks of those that wait, and whose stacks may be asked for, but these.
  Status ReadStacks(const std::set<WaitPointer>& but = {});
  // Tells the writer what is known.
  Status Tell();
  // Tells it all. REQUIRES: looks of all CPUs were taken.
  Status Finish();

  // Whether nothing of the target is left.
  bool HasEnded();
  // Something that changes with switches on the CPU. Any thread may ask, while this lives.
  std::uint64_t Activity(std::uint32_t cpu) const;

  IdleAccount& account() { return account_; }
  WaitStacks& stacks() { return stacks_; }
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  SwitchFollower(const Target& target, IdleWriter& writer);
  Status Begin();
  // Adds those of the threads that are not known yet; true: there were some.
  Result<bool> AddThreads();
  void Take(const sampler::PerfRecord& record, std::uint32_t cpu);
  void Drain(std::uint64_t until_ns);
  Status Give(const std::vector<IdleAccount::Told>& told);
  Status Give(const IdleAccount::Told& told);

  Target target_;
  IdleWriter& writer_;
  UniqueFd process_;  // a pidfd; none: it has ended
  std::unique_ptr<sampler::PerfEvents> events_;
  std::map<std::uint32_t, std::size_t> ring_of_;  // by CPU
  std::set<pid_t> threads_;                       // of a process that ran before
  IdleAccount account_;
  WaitStacks stacks_;
  std::uint64_t drained_ns_ = 0;
  std::chrono::milliseconds look_;  // until the next one
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace fieldcost::idle_agent

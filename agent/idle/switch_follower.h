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

#include "agent/idle/idle_account.h"
#include "agent/idle/idle_collector.h"
#include "agent/idle/wait_stacks.h"
#include "agent/perf/perf_events.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::idle_agent {

// Follows which monitored threads run on which CPUs, using the kernel's switch records
// (perf_event_open(2), unprivileged if kernel.perf_event_paranoid is 2 or less), and attributes the
// idle time found by checks of CPUs. Nothing is injected into programs, and no thread is stopped.
// Not thread-safe.
class SwitchFollower {
 public:
  // Returns kUnsupported for a target of all processes, and the errors of perf::PerfEvents.
  // REQUIRES: `writer` outlives this.
  static Result<std::unique_ptr<SwitchFollower>> Create(const Target& target, IdleWriter& writer);

  // Returns whether the kernel reports switches to this process at all.
  static bool IsAllowed();

  // Waits until `fd` is readable, the process ends, or a signal arrives; at most `limit`.
  Status Wait(std::chrono::milliseconds limit, int fd);
  // Takes all records up to now, then the checks of CPUs.
  struct LookAt {
    std::uint32_t cpu = 0;
    CpuLook look;
  };
  void Follow(const std::vector<LookAt>& looks);
  // Reads the stacks of the waits in account().ToRead(), except those in `but`.
  Status ReadStacks(const std::set<WaitPointer>& but = {});
  // Writes what is known so far.
  Status Tell();
  // Writes everything. REQUIRES: all checks of CPUs have been taken.
  Status Finish();

  // Returns whether the target has ended completely.
  bool HasEnded();
  // Returns a value that changes with switches on the CPU. Thread-safe.
  std::uint64_t Activity(std::uint32_t cpu) const;

  IdleAccount& account() { return account_; }
  WaitStacks& stacks() { return stacks_; }
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }

 private:
  SwitchFollower(const Target& target, IdleWriter& writer);
  Status Begin();
  // Adds threads that are not known yet. Returns whether there were any.
  Result<bool> AddThreads();
  void Take(const perf::PerfRecord& record, std::uint32_t cpu);
  void Drain(std::uint64_t until_ns);
  Status Give(const std::vector<IdleAccount::Told>& told);
  Status Give(const IdleAccount::Told& told);

  Target target_;
  IdleWriter& writer_;
  UniqueFd process_;  // a pidfd; invalid once the process has ended
  std::unique_ptr<perf::PerfEvents> events_;
  std::map<std::uint32_t, std::size_t> ring_of_;  // by CPU
  std::set<pid_t> threads_;                       // kRunning: threads that are followed
  IdleAccount account_;
  WaitStacks stacks_;
  std::uint64_t drained_ns_ = 0;
  std::chrono::milliseconds look_;  // until the next read
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace fieldcost::idle_agent

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/idle/candidate_account.h"
#include "agent/idle/idle_collector.h"
#include "agent/idle/idle_probe.h"
#include "agent/idle/wait_stacks.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::idle_agent {

// Mode `unprivileged~`: replaces UnprivilegedCollector where the kernel does not report switches.
// Guesses which thread left a CPU idle from the thread states in /proc.
class CandidateCollector : public Collector {
 public:
  // Returns kUnsupported for a target of all processes. REQUIRES: `writer` outlives this.
  static Result<std::unique_ptr<CandidateCollector>> Create(const Target& target,
                                                            IdleWriter& writer);

  Result<bool> Look(std::chrono::milliseconds limit) override;
  Status Finish() override;
  std::map<std::string, std::uint64_t> Counts() const override;

 private:
  CandidateCollector(const Target& target, IdleWriter& writer);
  // Returns the states of all processes' threads; drops processes that have ended.
  std::vector<ThreadState> States();
  void FindChildren();
  Status Follow();
  Status Give(const IdleAccount::Told& told);

  Target target_;
  IdleWriter& writer_;
  UniqueFd process_;  // a pidfd; invalid once the process has ended
  std::set<pid_t> processes_;
  std::set<pid_t> not_ours_;  // children that existed before recording began
  CandidateAccount account_;
  WaitStacks stacks_;
  std::unique_ptr<IdleProbe> probe_;
  std::uint64_t next_ns_ = 0;           // the earliest time of the next check
  std::uint64_t next_children_ns_ = 0;  // the same, for child processes
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace fieldcost::idle_agent

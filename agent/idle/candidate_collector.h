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
#include "agent/idle/collector.h"
#include "agent/idle/idle_probe.h"
#include "agent/idle/wait_stacks.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::idle_agent {

// Mode `unprivileged~`: as UnprivilegedCollector, where the kernel does not tell of switches. Who
// left a CPU idle is a guess by what /proc says of threads.
class CandidateCollector : public Collector {
 public:
  // A target of all processes is kUnsupported. REQUIRES: `writer` outlives this.
  static Result<std::unique_ptr<CandidateCollector>> Create(const Target& target,
                                                            IdleWriter& writer);

  Result<bool> Look(std::chrono::milliseconds limit) override;
  Status Finish() override;
  std::map<std::string, std::uint64_t> Counts() const override;

 private:
  CandidateCollector(const Target& target, IdleWriter& writer);
  // What the threads of all processes do; those that have ended are forgotten.
  std::vector<ThreadState> States();
  void FindChildren();
  Status Follow();
  Status Give(const IdleAccount::Told& told);

  Target target_;
  IdleWriter& writer_;
  UniqueFd process_;  // a pidfd; none: it has ended
  std::set<pid_t> processes_;
  std::set<pid_t> not_ours_;  // that the process had started before
  CandidateAccount account_;
  WaitStacks stacks_;
  std::unique_ptr<IdleProbe> probe_;
  std::uint64_t next_ns_ = 0;           // no look before
  std::uint64_t next_children_ns_ = 0;  // nor one for processes
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace fieldcost::idle_agent

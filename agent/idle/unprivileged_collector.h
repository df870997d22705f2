#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/idle/idle_collector.h"
#include "agent/idle/idle_probe.h"
#include "agent/idle/switch_follower.h"
#include "agent/perf/urgent.h"
#include "common/base/result.h"

namespace fieldcost::idle_agent {

// Mode `unprivileged`: checks CPUs, follows switches, and reads stacks while CPUs are idle. Needs
// only permission to read the process's memory, which its parent has, and
// kernel.perf_event_paranoid <= 2.
class UnprivilegedCollector : public Collector {
 public:
  // Returns kPermissionDenied or kUnsupported, with a message that states what is missing.
  // REQUIRES: `writer` outlives this.
  static Result<std::unique_ptr<UnprivilegedCollector>> Create(const Target& target,
                                                               IdleWriter& writer);

  Result<bool> Look(std::chrono::milliseconds limit) override;
  Status Finish() override;
  std::map<std::string, std::uint64_t> Counts() const override;

 private:
  UnprivilegedCollector() = default;
  // Returns whether any CPU was idle.
  bool Follow();

  std::unique_ptr<SwitchFollower> follower_;
  std::unique_ptr<IdleProbe> probe_;  // destroyed before the follower that it calls
  std::vector<SwitchFollower::LookAt> looks_;
  std::optional<perf::Urgent> urgent_;  // while it records
};

}  // namespace fieldcost::idle_agent

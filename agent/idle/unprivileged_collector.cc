#include "agent/idle/unprivileged_collector.h"

namespace fieldcost::idle_agent {

Result<std::unique_ptr<UnprivilegedCollector>> UnprivilegedCollector::Create(const Target& target,
                                                                             IdleWriter& writer) {
  std::unique_ptr<UnprivilegedCollector> made(new UnprivilegedCollector);
  FIELDCOST_ASSIGN(made->follower_, SwitchFollower::Create(target, writer));
  const auto activity = [follower = made->follower_.get()](std::uint32_t cpu) {
    return follower->Activity(cpu);
  };
  FIELDCOST_ASSIGN(made->probe_,
                   IdleProbe::Start({.tick_ns = writer.tick_ns(), .activity = activity}));
  made->urgent_.emplace();
  return made;
}

bool UnprivilegedCollector::Follow() {
  looks_.clear();
  bool was_idle = false;
  probe_->Take([&](std::uint32_t cpu, const CpuLook& look) {
    looks_.push_back({.cpu = cpu, .look = look});
    was_idle = was_idle || look.idle;
  });
  follower_->Follow(looks_);
  return was_idle;
}

Result<bool> UnprivilegedCollector::Look(std::chrono::milliseconds limit) {
  FIELDCOST_TRY(follower_->Wait(limit, probe_->fd()));
  const bool has_ended = follower_->HasEnded();
  if (Follow()) FIELDCOST_TRY(follower_->ReadStacks());
  FIELDCOST_TRY(follower_->Tell());
  return !has_ended;
}

Status UnprivilegedCollector::Finish() {
  urgent_.reset();
  probe_->Stop();
  Follow();
  return follower_->Finish();
}

std::map<std::string, std::uint64_t> UnprivilegedCollector::Counts() const {
  std::map<std::string, std::uint64_t> counts = follower_->counts();
  counts["looks without room"] = probe_->dropped();
  return counts;
}

}  // namespace fieldcost::idle_agent

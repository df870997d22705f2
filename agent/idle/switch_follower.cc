#include "agent/idle/switch_follower.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <variant>

#include "agent/perf/process_threads.h"
#include "common/base/clock.h"

namespace fieldcost::idle_agent {
namespace {

constexpr std::size_t kRingBytes = 512 * 1024;  // per CPU: 9,000 switches
constexpr auto kShortestLook = std::chrono::milliseconds(1);
constexpr auto kFirstLook = std::chrono::milliseconds(20);
constexpr auto kLongestLook = std::chrono::milliseconds(100);

}  // namespace

SwitchFollower::SwitchFollower(const Target& target, IdleWriter& writer)
    : target_(target),
      writer_(writer),
      account_(writer.tick_ns()),
      stacks_(writer),
      look_(kFirstLook) {}

Result<std::unique_ptr<SwitchFollower>> SwitchFollower::Create(const Target& target,
                                                               IdleWriter& writer) {
  if (target.kind == Target::Kind::kAll)
    return Fail(ErrorCode::kUnsupported, "record all processes: only mode bpf can do that");
  std::unique_ptr<SwitchFollower> made(new SwitchFollower(target, writer));
  FIELDCOST_TRY(made->Begin());
  return made;
}

bool SwitchFollower::IsAllowed() {
  return perf::PerfEvents::Create({.ring_bytes = kRingBytes}).has_value();
}

Status SwitchFollower::Begin() {
  process_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, target_.pid, 0)));
  if (!process_.valid()) {
    if (errno == ESRCH)
      return Fail(ErrorCode::kNotFound, "record process {}: no such process", target_.pid);
    return ErrnoError("record process", std::to_string(target_.pid), errno);
  }
  const bool from_next_exec = target_.kind == Target::Kind::kNextExec;
  FIELDCOST_ASSIGN(events_, perf::PerfEvents::Create(
                                {.ring_bytes = kRingBytes, .from_next_exec = from_next_exec}));
  for (std::size_t i = 0; i < events_->rings(); ++i) ring_of_[events_->CpuOf(i)] = i;
  if (from_next_exec) return events_->Add(target_.pid);
  stacks_.maps().Of(target_.pid);
  bool some = true;
  // Repeats until there are no new threads: threads that known ones start inherit their events.
  while (some) {
    FIELDCOST_ASSIGN(some, AddThreads());
  }
  if (threads_.empty())
    return Fail(ErrorCode::kNotFound, "record process {}: it has no threads", target_.pid);
  return {};
}

Result<bool> SwitchFollower::AddThreads() {
  bool some = false;
  for (const pid_t tid : perf::ThreadsOf(target_.pid)) {
    if (threads_.contains(tid)) continue;
    const Status added = events_->Add(tid);
    if (!added && added.error().code == ErrorCode::kNotFound) continue;
    FIELDCOST_TRY(added);
    threads_.insert(tid);
    if (perf::IsWaiting(target_.pid, tid)) account_.Waits(target_.pid, tid);
    some = true;
  }
  return some;
}

Status SwitchFollower::Wait(std::chrono::milliseconds limit, int fd) {
  pollfd waiting[] = {{.fd = fd, .events = POLLIN, .revents = 0},
                      {.fd = process_.get(), .events = POLLIN, .revents = 0}};
  const int ready = ::poll(waiting, 2, static_cast<int>(std::min(limit, look_).count()));
  if (ready < 0 && errno != EINTR) return ErrnoError("wait for", "idle CPUs", errno);
  if (ready > 0 && waiting[1].revents != 0) process_.Reset();
  return {};
}

bool SwitchFollower::HasEnded() {
  return !process_.valid() && (target_.kind == Target::Kind::kRunning || events_->AllEnded());
}

std::uint64_t SwitchFollower::Activity(std::uint32_t cpu) const {
  const auto ring = ring_of_.find(cpu);
  return ring == ring_of_.end() ? 0 : events_->Written(ring->second);
}

void SwitchFollower::Drain(std::uint64_t until_ns) {
  const auto seen =
      events_->Drain(until_ns, [this](const perf::PerfRecord& record, std::size_t ring) {
        Take(record, events_->CpuOf(ring));
      });
  counts_["unreadable records"] += seen.unreadable;
  if (seen.fill > 0.5) {
    look_ = std::max(look_ / 2, kShortestLook);
  } else if (seen.fill < 0.25) {
    look_ = std::min(look_ * 2, kLongestLook);
  }
  drained_ns_ = until_ns;
}

void SwitchFollower::Take(const perf::PerfRecord& record, std::uint32_t cpu) {
  std::visit(
      [&](const auto& content) {
        if constexpr (requires { stacks_.maps().Take(content); }) stacks_.maps().Take(content);
      },
      record.content);
  if (const auto* const change = std::get_if<perf::SwitchRecord>(&record.content)) {
    ++counts_["switches"];
    if (change->out) {
      account_.Out(cpu, change->pid, change->tid, record.time, change->preempted);
    } else {
      account_.In(cpu, change->pid, change->tid, record.time);
    }
  } else if (const auto* const exec = std::get_if<perf::ExecRecord>(&record.content)) {
    account_.In(cpu, exec->pid, exec->pid, record.time);  // there is no switch-in record for it
  } else if (const auto* const exit = std::get_if<perf::ExitRecord>(&record.content)) {
    account_.Exit(cpu, exit->tid, record.time);
  } else if (const auto* const lost = std::get_if<perf::LostRecord>(&record.content)) {
    counts_["lost records"] += lost->count;
    account_.Lost(cpu, record.time);
  }
}

void SwitchFollower::Follow(const std::vector<LookAt>& looks) {
  Drain(MonotonicNs());
  for (const LookAt& look : looks) {
    account_.Look(look.cpu, look.look);
    counts_["idle ticks"] += look.look.idle ? 1 : 0;
  }
}

Status SwitchFollower::ReadStacks(const std::set<WaitPointer>& but) {
  for (const WaitPointer& wait : account_.ToRead()) {
    if (but.contains(wait)) continue;
    FIELDCOST_ASSIGN(const std::optional<StackId> stack, stacks_.Read(wait->pid, wait->tid));
    account_.Read(*wait, MonotonicNs(), stack);
    ++counts_[stack ? "stacks" : "unavailable stacks"];
  }
  return {};
}

Status SwitchFollower::Tell() { return Give(account_.Tell(drained_ns_)); }

Status SwitchFollower::Finish() {
  events_->Stop();
  Drain(UINT64_MAX);
  return Give(account_.TellRest());
}

Status SwitchFollower::Give(const std::vector<IdleAccount::Told>& told) {
  for (const IdleAccount::Told& one : told) FIELDCOST_TRY(Give(one));
  return {};
}

Status SwitchFollower::Give(const IdleAccount::Told& told) {
  std::optional<StackId> stack;
  idle::Why why = told.why;
  if (told.wait != nullptr) {
    const ThreadWait& wait = *told.wait;
    why = idle::Why::kLost;
    if (wait.ended) {
      FIELDCOST_ASSIGN(stack, stacks_.Ended());
    } else if (wait.preempted) {
      FIELDCOST_ASSIGN(stack, stacks_.Preempted());
    } else if (wait.begins) {
      FIELDCOST_ASSIGN(stack, stacks_.New());
    } else if (wait.state != ThreadWait::Stack::kNone) {
      stack = wait.stack;
    }
    if (!stack) ++counts_["lost stacks"];
  }
  if (!told.goes_on) {
    return writer_.Take({.cpu = told.cpu,
                         .begin_ns = told.begin_ns,
                         .end_ns = told.end_ns,
                         .to = stack,
                         .why = why});
  }
  if (!stack) {
    FIELDCOST_ASSIGN(stack, stacks_.Lost());
  }
  return writer_.GoesOn(told.cpu, *stack, {});
}

}  // namespace fieldcost::idle_agent

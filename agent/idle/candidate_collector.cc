#include "agent/idle/candidate_collector.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/idle/monotonic.h"
#include "common/base/clock.h"

namespace fieldcost::idle_agent {
namespace {

constexpr std::size_t kMostProcesses = 4096;
// The minimum time between two checks of all threads, as a multiple of the duration of one.
constexpr std::uint64_t kPause = 10;
constexpr std::uint64_t kChildrenNs = 20'000'000;

}  // namespace

CandidateCollector::CandidateCollector(const Target& target, IdleWriter& writer)
    : target_(target), writer_(writer), account_(writer.tick_ns()), stacks_(writer) {}

Result<std::unique_ptr<CandidateCollector>> CandidateCollector::Create(const Target& target,
                                                                       IdleWriter& writer) {
  if (target.kind == Target::Kind::kAll)
    return Fail(ErrorCode::kUnsupported, "record all processes: only mode bpf can do that");
  std::unique_ptr<CandidateCollector> made(new CandidateCollector(target, writer));
  made->process_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, target.pid, 0)));
  if (!made->process_.valid()) {
    if (errno == ESRCH)
      return Fail(ErrorCode::kNotFound, "record process {}: no such process", target.pid);
    return ErrnoError("record process", std::to_string(target.pid), errno);
  }
  made->processes_.insert(target.pid);
  for (const pid_t child : ChildrenOf(target.pid)) made->not_ours_.insert(child);
  FIELDCOST_ASSIGN(made->probe_, IdleProbe::Start({.tick_ns = writer.tick_ns()}));
  return made;
}

void CandidateCollector::FindChildren() {
  std::vector<pid_t> left(processes_.begin(), processes_.end());
  while (!left.empty() && processes_.size() < kMostProcesses) {
    const pid_t pid = left.back();
    left.pop_back();
    for (const pid_t child : ChildrenOf(pid)) {
      if (!not_ours_.contains(child) && processes_.insert(child).second) left.push_back(child);
    }
  }
}

std::vector<ThreadState> CandidateCollector::States() {
  std::vector<ThreadState> all;
  std::erase_if(processes_, [&](pid_t pid) {
    std::vector<ThreadState> states = StatesOf(pid);
    if (!states.empty()) all.insert(all.end(), states.begin(), states.end());
    if (states.empty()) stacks_.maps().Forget(pid);
    return states.empty();
  });
  return all;
}

Status CandidateCollector::Follow() {
  std::vector<std::pair<std::uint32_t, CpuLook>> looks;
  probe_->Take([&](std::uint32_t cpu, const CpuLook& look) { looks.emplace_back(cpu, look); });
  const std::uint64_t begin = MonotonicNs();
  if (begin >= next_children_ns_) {
    FindChildren();
    next_children_ns_ = begin + kChildrenNs;
  }
  account_.Take(States(), looks, begin);
  for (const WaitPointer& wait : account_.ToRead()) {
    FIELDCOST_ASSIGN(wait->stack, stacks_.Read(wait->pid, wait->tid));
    wait->state = wait->stack ? ThreadWait::Stack::kKnown : ThreadWait::Stack::kNone;
    ++counts_[wait->stack ? "stacks" : "unavailable stacks"];
  }
  for (const IdleAccount::Told& told : account_.Tell()) FIELDCOST_TRY(Give(told));
  const std::uint64_t now = MonotonicNs();
  next_ns_ = now + std::max(writer_.tick_ns(), kPause * (now - begin));
  return {};
}

Status CandidateCollector::Give(const IdleAccount::Told& told) {
  const auto stack = told.wait != nullptr ? told.wait->stack : std::nullopt;
  if (!told.goes_on) {
    ++counts_["idle ticks"];
    return writer_.Take({.cpu = told.cpu,
                         .begin_ns = told.begin_ns,
                         .end_ns = told.end_ns,
                         .to = stack,
                         .why = told.wait != nullptr ? idle::Why::kLost : told.why});
  }
  FIELDCOST_ASSIGN(const StackId from, stack ? Result<StackId>(*stack) : stacks_.Lost());
  return writer_.GoesOn(told.cpu, from, {});
}

Result<bool> CandidateCollector::Look(std::chrono::milliseconds limit) {
  const auto until = std::min<std::chrono::milliseconds>(limit, std::chrono::milliseconds(20));
  pollfd waiting[] = {{.fd = probe_->fd(), .events = POLLIN, .revents = 0},
                      {.fd = process_.get(), .events = POLLIN, .revents = 0}};
  const int ready = ::poll(waiting, 2, static_cast<int>(until.count()));
  if (ready < 0 && errno != EINTR) return ErrnoError("wait for", "idle CPUs", errno);
  if (ready > 0 && waiting[1].revents != 0) process_.Reset();
  if (ready > 0 && process_.valid()) SleepUntil(next_ns_);
  FIELDCOST_TRY(Follow());
  if (process_.valid()) return true;
  return target_.kind == Target::Kind::kNextExec && !processes_.empty();
}

Status CandidateCollector::Finish() {
  probe_->Stop();
  return Follow();
}

std::map<std::string, std::uint64_t> CandidateCollector::Counts() const {
  std::map<std::string, std::uint64_t> counts = counts_;
  counts["looks without room"] = probe_->dropped();
  return counts;
}

}  // namespace fieldcost::idle_agent

#include "agent/trace/wait_copies.h"

#include "common/base/clock.h"

namespace fieldcost::trace {

WaitCopies::WaitCopies()
    : WaitCopies(
          [](pid_t pid, pid_t tid) { return perf::CopyWaitStack(pid, tid, kMostStackBytes); },
          [] { return MonotonicNs(); }) {}

void WaitCopies::Follow(const perf::SwitchRecord& record, std::uint64_t time) {
  if (threads_.size() >= kMostThreads && !threads_.contains(record.tid)) threads_.clear();
  Thread& thread = threads_[record.tid];
  if (time <= thread.time_ns) return;
  thread = {.pid = record.pid, .time_ns = time, .waits = record.out && !record.preempted};
}

void WaitCopies::Look(std::uint64_t least_ns) {
  const std::uint64_t now = clock_();
  for (auto& [tid, thread] : threads_) {
    if (!thread.waits || thread.tries >= kMostTries || now < thread.time_ns + least_ns) continue;
    if (bytes_ + kMostStackBytes > kMostBytes) return;
    ++thread.tries;
    auto stack = copier_(thread.pid, tid);
    if (!stack) continue;
    thread.tries = kMostTries;
    stack->bytes.shrink_to_fit();
    const auto [copy, is_new] = copies_.try_emplace({tid, thread.time_ns});
    if (!is_new) continue;
    copy->second = {.stack = *std::move(stack), .time_ns = clock_()};
    bytes_ += copy->second.stack.bytes.size();
  }
}

std::optional<WaitCopies::Copy> WaitCopies::Take(pid_t tid, std::uint64_t since_ns) {
  std::optional<Copy> taken;
  if (const auto found = copies_.find({tid, since_ns}); found != copies_.end()) {
    taken = found->second;
  }
  Forget(tid, since_ns);
  return taken;
}

void WaitCopies::Exit(pid_t tid, std::uint64_t time) {
  Forget(tid, time);
  const auto thread = threads_.find(tid);
  if (thread != threads_.end() && thread->second.time_ns <= time) threads_.erase(thread);
}

void WaitCopies::Forget(pid_t tid, std::uint64_t since_ns) {
  auto copy = copies_.lower_bound({tid, 0});
  while (copy != copies_.end() && copy->first.first == tid && copy->first.second <= since_ns) {
    bytes_ -= copy->second.stack.bytes.size();
    copy = copies_.erase(copy);
  }
}

}  // namespace fieldcost::trace

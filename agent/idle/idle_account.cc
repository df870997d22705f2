#include "agent/idle/idle_account.h"

#include <algorithm>
#include <utility>

namespace fieldcost::idle_agent {
namespace {

// Maximum time that a woken thread may need on a busy machine until it runs.
constexpr std::uint64_t kWokenNs = 20'000'000;

bool CanBeRead(const WaitPointer& wait) {
  return wait != nullptr && wait->state == ThreadWait::Stack::kUnread && !wait->is_over &&
         !wait->preempted && !wait->ended;
}

}  // namespace

IdleAccount::Cpu& IdleAccount::CpuOf(std::uint32_t number) {
  const auto [found, is_new] = cpus_.try_emplace(number);
  if (is_new) {
    found->second.number = number;
    found->second.gaps.emplace_back();
  }
  return found->second;
}

void IdleAccount::Close(Cpu& cpu, std::uint64_t time_ns) {
  if (cpu.gaps.empty()) return;
  Gap& gap = cpu.gaps.back();
  if (gap.end_ns == UINT64_MAX) gap.end_ns = std::max(gap.begin_ns, time_ns);
}

void IdleAccount::Open(Cpu& cpu, std::uint64_t time_ns, WaitPointer holder, idle::Why why) {
  Close(cpu, time_ns);
  cpu.gaps.push_back({.begin_ns = time_ns, .holder = std::move(holder), .why = why});
}

void IdleAccount::EndWait(Thread& thread, std::uint32_t cpu, std::uint64_t time_ns) {
  if (thread.wait == nullptr || thread.wait->is_over) return;
  ThreadWait& wait = *thread.wait;
  wait.is_over = true;
  const bool was_read_late = wait.read_ns > time_ns;
  // Its stack was unavailable because it had resumed or been woken; that of its next wait may be
  // available.
  if (wait.state == ThreadWait::Stack::kNone && time_ns < wait.read_ns + kWokenNs)
    thread.mute = false;
  const bool is_good = wait.state == ThreadWait::Stack::kKnown ||
                       (wait.state == ThreadWait::Stack::kRead && !was_read_late);
  wait.state = is_good ? ThreadWait::Stack::kKnown : ThreadWait::Stack::kNone;
  if (thread.cpu == cpu) return;
  Cpu& left = CpuOf(thread.cpu);
  if (left.gaps.empty() || left.gaps.back().end_ns != UINT64_MAX) return;
  if (left.gaps.back().holder == thread.wait) Open(left, time_ns, nullptr, idle::Why::kMovedAway);
}

void IdleAccount::In(std::uint32_t cpu, pid_t pid, pid_t tid, std::uint64_t time_ns) {
  if (threads_.size() >= kMostThreads && !threads_.contains(tid)) threads_.clear();
  Thread& thread = threads_[tid];
  EndWait(thread, cpu, time_ns);
  Cpu& here = CpuOf(cpu);
  if (!here.gaps.empty() && here.gaps.back().end_ns == UINT64_MAX) {
    Close(here, time_ns);
    here.gaps.back().went_on = true;
    here.gaps.back().ender = thread.wait;
    if (thread.wait == nullptr) {
      // A new thread has no stack yet.
      here.gaps.back().ender = std::make_shared<ThreadWait>(
          ThreadWait{.pid = pid, .tid = tid, .begins = true, .is_over = true});
    }
  }
  thread.cpu = cpu;
}

void IdleAccount::Out(std::uint32_t cpu, pid_t pid, pid_t tid, std::uint64_t time_ns,
                      bool preempted) {
  if (threads_.size() >= kMostThreads && !threads_.contains(tid)) threads_.clear();
  Thread& thread = threads_[tid];
  EndWait(thread, cpu, time_ns);  // has an effect only if the record of its switch in was lost
  thread.wait =
      std::make_shared<ThreadWait>(ThreadWait{.pid = pid, .tid = tid, .preempted = preempted});
  thread.cpu = cpu;
  Open(CpuOf(cpu), time_ns, thread.wait, idle::Why::kLost);
  if (preempted) return;
  recent_.push_back(thread.wait);
  if (recent_.size() > kMostRecent) recent_.pop_front();
}

void IdleAccount::Exit(std::uint32_t cpu, pid_t tid, std::uint64_t time_ns) {
  threads_.erase(tid);
  Open(CpuOf(cpu), time_ns,
       std::make_shared<ThreadWait>(ThreadWait{.tid = tid, .ended = true, .is_over = true}),
       idle::Why::kEnded);
}

void IdleAccount::Lost(std::uint32_t cpu, std::uint64_t time_ns) {
  Open(CpuOf(cpu), time_ns, nullptr, idle::Why::kLost);
  for (const WaitPointer& wait : unsure_) {
    if (wait->state == ThreadWait::Stack::kRead) wait->state = ThreadWait::Stack::kNone;
  }
}

void IdleAccount::Waits(pid_t pid, pid_t tid) {
  if (threads_.size() >= kMostThreads) threads_.clear();
  Thread& thread = threads_[tid];
  thread.wait = std::make_shared<ThreadWait>(ThreadWait{.pid = pid, .tid = tid});
  recent_.push_back(thread.wait);
  if (recent_.size() > kMostRecent) recent_.pop_front();
}

void IdleAccount::Look(std::uint32_t cpu, const CpuLook& look) {
  Cpu& here = CpuOf(cpu);
  if (look.idle) {
    Gap* longest = nullptr;
    std::uint64_t most_ns = 0;
    for (Gap& gap : here.gaps) {
      const std::uint64_t begin = std::max(gap.begin_ns, look.begin_ns);
      const std::uint64_t end = std::min(gap.end_ns, look.end_ns);
      if (end <= begin || end - begin < most_ns) continue;
      longest = &gap;
      most_ns = end - begin;
    }
    if (longest == nullptr) {
      // As far as is known, monitored threads ran there all the time.
      here.gaps.push_back(
          {.begin_ns = look.end_ns, .end_ns = look.end_ns, .why = idle::Why::kLost});
      longest = &here.gaps.back();
    }
    AddTick(here, *longest, look.end_ns);
  }
  here.looked_ns = look.end_ns;
}

void IdleAccount::AddTick(Cpu& cpu, Gap& gap, std::uint64_t end_ns) {
  const std::uint64_t now = std::min(end_ns, gap.end_ns) / tick_ns_;
  const std::uint64_t tick = std::max(cpu.last_tick + 1, now);
  cpu.last_tick = tick;
  if (!gap.periods.empty()) {
    Told& last = gap.periods.back();
    if (last.end_ns == (tick - 1) * tick_ns_ &&
        last.end_ns - last.begin_ns < kMostTicks * tick_ns_) {
      last.end_ns = tick * tick_ns_;
      return;
    }
  }
  gap.periods.push_back({.cpu = cpu.number,
                         .begin_ns = (tick - 1) * tick_ns_,
                         .end_ns = tick * tick_ns_,
                         .wait = gap.holder,
                         .why = gap.why});
}

std::vector<WaitPointer> IdleAccount::ToRead() {
  std::vector<WaitPointer> waits;
  const auto add = [&waits](const WaitPointer& wait) {
    if (CanBeRead(wait) && std::ranges::find(waits, wait) == waits.end()) waits.push_back(wait);
  };
  for (const auto& [number, cpu] : cpus_) {
    for (const Told& told : cpu.untold) add(told.wait);
    for (const Gap& gap : cpu.gaps) {
      if (!gap.periods.empty()) add(gap.holder);
    }
  }
  for (auto wait = recent_.rbegin(); wait != recent_.rend(); ++wait) {
    const auto thread = threads_.find((*wait)->tid);
    if (thread != threads_.end() && !thread->second.mute) add(*wait);
  }
  recent_.clear();
  return waits;
}

void IdleAccount::Read(ThreadWait& wait, std::uint64_t time_ns, std::optional<StackId> stack) {
  if (wait.state != ThreadWait::Stack::kUnread) return;
  wait.read_ns = time_ns;
  wait.stack = stack;
  wait.state = stack ? ThreadWait::Stack::kRead : ThreadWait::Stack::kNone;
  const auto thread = threads_.find(wait.tid);
  if (thread == threads_.end() || thread->second.wait.get() != &wait) return;
  thread->second.mute = !stack;
  if (stack) unsure_.push_back(thread->second.wait);
}

WaitPointer IdleAccount::LastOn(std::uint32_t cpu) const {
  const auto found = cpus_.find(cpu);
  if (found == cpus_.end() || found->second.gaps.empty()) return nullptr;
  const Gap& gap = found->second.gaps.back();
  if (gap.end_ns != UINT64_MAX || gap.holder == nullptr || gap.holder->is_over ||
      gap.holder->preempted)
    return nullptr;
  return gap.holder;
}

bool IdleAccount::IsSettled(const Told& told) {
  return told.wait == nullptr || told.wait->ended || told.wait->begins || told.wait->preempted ||
         told.wait->state == ThreadWait::Stack::kKnown ||
         told.wait->state == ThreadWait::Stack::kNone;
}

void IdleAccount::Settle(std::uint64_t until_ns) {
  std::erase_if(unsure_, [until_ns](const WaitPointer& wait) {
    if (wait->state != ThreadWait::Stack::kRead) return true;
    if (wait->read_ns > until_ns) return false;
    wait->state = ThreadWait::Stack::kKnown;
    return true;
  });
}

void IdleAccount::Collect(Cpu& cpu, bool all) {
  const auto take = [&cpu](Told& period) {
    cpu.untold.push_back(std::move(period));
    cpu.owes = true;
  };
  while (!cpu.gaps.empty()) {
    Gap& gap = cpu.gaps.front();
    if (!all && gap.end_ns > cpu.looked_ns && cpu.gaps.size() <= kMostGaps) {
      const bool is_full =
          !gap.periods.empty() &&
          gap.periods.back().end_ns - gap.periods.back().begin_ns >= kMostTicks * tick_ns_;
      const std::size_t keep = is_full || gap.periods.empty() ? 0 : 1;
      const auto end = gap.periods.end() - static_cast<std::ptrdiff_t>(keep);
      std::for_each(gap.periods.begin(), end, take);
      gap.periods.erase(gap.periods.begin(), end);
      return;
    }
    std::ranges::for_each(gap.periods, take);
    if (gap.went_on && cpu.owes) {
      cpu.untold.push_back({.cpu = cpu.number,
                            .goes_on = true,
                            .begin_ns = gap.end_ns,
                            .end_ns = gap.end_ns,
                            .wait = std::move(gap.ender)});
      cpu.owes = false;
    }
    cpu.gaps.pop_front();
  }
}

std::vector<IdleAccount::Told> IdleAccount::Tell(std::uint64_t until_ns) {
  Settle(until_ns);
  std::vector<Told> told;
  for (auto& [number, cpu] : cpus_) {
    Collect(cpu, false);
    while (!cpu.untold.empty() && IsSettled(cpu.untold.front())) {
      told.push_back(std::move(cpu.untold.front()));
      cpu.untold.pop_front();
    }
  }
  return told;
}

std::vector<IdleAccount::Told> IdleAccount::TellRest() {
  Settle(UINT64_MAX);
  std::vector<Told> told;
  for (auto& [number, cpu] : cpus_) {
    Collect(cpu, true);
    std::ranges::move(cpu.untold, std::back_inserter(told));
    cpu.untold.clear();
  }
  return told;
}

}  // namespace fieldcost::idle_agent

#include "agent/idle/candidate_account.h"

#include <algorithm>

namespace fieldcost::idle_agent {
namespace {

// After this many consecutive waits without a stack, a thread's stack is read only to explain an
// idle CPU. Fewer may be due to chance: the thread had just been woken.
constexpr int kMostRefusals = 3;

}  // namespace

void CandidateAccount::TakeStates(const std::vector<ThreadState>& states) {
  ++looks_;
  for (auto& [number, cpu] : cpus_) cpu.gone_on.clear();
  for (const ThreadState& state : states) {
    const auto [found, is_new] = threads_.try_emplace(state.tid);
    Thread& thread = found->second;
    const bool ran = is_new || thread.state.runs != state.runs;
    thread.seen = looks_;
    if (ran) {
      thread.ran = state.last_ns != 0 ? state.last_ns : looks_;
      if (thread.wait != nullptr) {
        thread.wait->is_over = true;
        if (thread.wait->state == ThreadWait::Stack::kNone) ++thread.refusals;
        if (thread.wait->state == ThreadWait::Stack::kKnown) thread.refusals = 0;
        cpus_[state.cpu].gone_on.push_back(std::move(thread.wait));
      }
      thread.wait = nullptr;
    }
    thread.state = state;
    if (!state.waits || thread.wait != nullptr) continue;
    thread.wait = std::make_shared<ThreadWait>(ThreadWait{.pid = state.pid, .tid = state.tid});
    if (thread.refusals >= kMostRefusals) continue;
    recent_.push_back(thread.wait);
    if (recent_.size() > IdleAccount::kMostRecent) recent_.pop_front();
  }
  std::erase_if(threads_, [this](const auto& entry) { return entry.second.seen != looks_; });
}

void CandidateAccount::FindCandidates() {
  for (auto& [number, cpu] : cpus_) cpu.is_used = false;
  for (const auto& [tid, thread] : threads_) {
    if (thread.wait == nullptr) cpus_[thread.state.cpu].is_used = true;
  }
  std::map<std::uint32_t, std::uint64_t> last;
  for (const auto& [tid, thread] : threads_) {
    if (thread.wait == nullptr) continue;
    std::uint64_t& ran = last[thread.state.cpu];
    ran = std::max(ran, thread.ran);
  }
  for (auto& [number, cpu] : cpus_) {
    if (!cpu.is_used) cpu.candidates.clear();
  }
  for (const auto& [tid, thread] : threads_) {
    Cpu& cpu = cpus_[thread.state.cpu];
    if (!cpu.is_used && thread.ran == last[thread.state.cpu]) cpu.candidates.push_back(thread.wait);
  }
  // Equal candidates always have the same order.
  for (auto& [number, cpu] : cpus_) std::ranges::sort(cpu.candidates, {}, &ThreadWait::tid);
}

void CandidateAccount::Take(const std::vector<ThreadState>& states,
                            const std::vector<std::pair<std::uint32_t, CpuLook>>& looks,
                            std::uint64_t time_ns) {
  TakeStates(states);
  FindCandidates();
  for (auto& [number, cpu] : cpus_) {
    if (!cpu.is_used) TellWhoGoesOn(number, cpu, time_ns);
  }
  was_idle_ = false;
  for (const auto& [number, look] : looks) {
    was_idle_ = was_idle_ || look.idle;
    if (look.idle) TakeIdle(number, cpus_[number], look);
  }
  for (auto& [number, cpu] : cpus_) {
    if (cpu.is_used) TellWhoGoesOn(number, cpu, time_ns);
  }
}

void CandidateAccount::TellWhoGoesOn(std::uint32_t number, Cpu& cpu, std::uint64_t time_ns) {
  if (!cpu.owes || cpu.gone_on.empty()) return;
  told_.push_back({.cpu = number,
                   .goes_on = true,
                   .begin_ns = time_ns,
                   .end_ns = time_ns,
                   .wait = cpu.gone_on[cpu.turn++ % cpu.gone_on.size()]});
  cpu.owes = false;
}

void CandidateAccount::TakeIdle(std::uint32_t number, Cpu& cpu, const CpuLook& look) {
  const std::uint64_t tick = std::max(cpu.last_tick + 1, look.end_ns / tick_ns_);
  cpu.last_tick = tick;
  cpu.owes = true;
  WaitPointer wait;
  if (!cpu.candidates.empty()) wait = cpu.candidates[cpu.turn++ % cpu.candidates.size()];
  if (wait != nullptr && wait->state == ThreadWait::Stack::kUnread && !wait->is_over &&
      std::ranges::find(wanted_, wait) == wanted_.end())
    wanted_.push_back(wait);
  told_.push_back({.cpu = number,
                   .begin_ns = (tick - 1) * tick_ns_,
                   .end_ns = tick * tick_ns_,
                   .wait = std::move(wait),
                   .why = idle::Why::kNotMonitored});
}

std::vector<WaitPointer> CandidateAccount::ToRead() {
  std::vector<WaitPointer> waits = std::exchange(wanted_, {});
  if (!was_idle_) return waits;
  for (auto wait = recent_.rbegin(); wait != recent_.rend(); ++wait) {
    const bool is_new = !(*wait)->is_over && (*wait)->state == ThreadWait::Stack::kUnread;
    if (is_new && std::ranges::find(waits, *wait) == waits.end()) waits.push_back(*wait);
  }
  recent_.clear();
  return waits;
}

}  // namespace fieldcost::idle_agent

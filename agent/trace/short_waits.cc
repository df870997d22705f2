#include "agent/trace/short_waits.h"

#include <algorithm>

namespace fieldcost::trace {

void ShortWaits::Add(const Span& wait) {
  if (wait.length_ns == 0) return;
  Sum& sum = sums_[wait.tid];
  sum.pid = wait.pid;
  sum.end_ns = std::max(sum.end_ns, wait.end_ns);
  sum.length_ns[static_cast<std::size_t>(wait.kind)] += wait.length_ns;
}

void ShortWaits::Append(pid_t tid, const Sum& sum, std::vector<Span>& spans) {
  const auto [waited_ns, preempted_ns] = sum.length_ns;
  if (preempted_ns > 0) {
    spans.push_back({.pid = sum.pid,
                     .tid = tid,
                     .kind = Kind::kPreempted,
                     .end_ns = sum.end_ns - waited_ns,
                     .length_ns = preempted_ns});
  }
  if (waited_ns > 0) {
    spans.push_back({.pid = sum.pid,
                     .tid = tid,
                     .kind = Kind::kWait,
                     .end_ns = sum.end_ns,
                     .length_ns = waited_ns});
  }
}

std::vector<ShortWaits::Span> ShortWaits::TakeOf(pid_t tid) {
  std::vector<Span> spans;
  const auto found = sums_.find(tid);
  if (found == sums_.end()) return spans;
  Append(tid, found->second, spans);
  sums_.erase(found);
  return spans;
}

std::vector<ShortWaits::Span> ShortWaits::TakeAll() {
  std::vector<Span> spans;
  for (const auto& [tid, sum] : sums_) Append(tid, sum, spans);
  sums_.clear();
  return spans;
}

}  // namespace fieldcost::trace

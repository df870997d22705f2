#include "agent/trace/run_times.h"

#include <algorithm>

namespace fieldcost::trace {

void RunTimes::In(pid_t tid, std::size_t cpu, std::uint64_t time) {
  if (threads_.size() >= kMostThreads && !threads_.contains(tid)) {
    threads_.clear();
    used_ = 0;
  }
  Thread& thread = threads_[tid];
  if (thread.is_in) return;
  if (thread.run_ns.empty()) thread.run_ns.resize(cpus_);
  thread.is_in = true;
  thread.cpu = cpu;
  thread.in_ns = time;
  if (thread.run_ns[cpu] == 0) ++used_;
  thread.run_ns[cpu] += 1;  // marks the CPU as used; the extra nanosecond does not matter
}

void RunTimes::Out(pid_t tid, std::uint64_t time) {
  const auto found = threads_.find(tid);
  if (found == threads_.end() || !found->second.is_in) return;
  Thread& thread = found->second;
  thread.run_ns[thread.cpu] += std::max(time, thread.in_ns) - thread.in_ns;
  thread.is_in = false;
}

void RunTimes::End(pid_t tid, Thread& thread, std::uint64_t time, const Sink& sink) {
  if (thread.is_in) thread.run_ns[thread.cpu] += std::max(time, thread.in_ns) - thread.in_ns;
  for (const std::uint64_t run : thread.run_ns) {
    if (run == 0) continue;
    --used_;
    sink(tid, run);
  }
}

void RunTimes::Exit(pid_t tid, std::uint64_t time, const Sink& sink) {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) return;
  End(tid, found->second, time, sink);
  threads_.erase(found);
}

void RunTimes::ExitAll(std::uint64_t time, const Sink& sink) {
  for (auto& [tid, thread] : threads_) End(tid, thread, time, sink);
  threads_.clear();
}

}  // namespace fieldcost::trace

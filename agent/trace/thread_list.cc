#include "agent/trace/thread_list.h"

#include <fmt/format.h>

#include <utility>

#include "common/base/file.h"

namespace fieldcost::trace {
namespace {

constexpr std::size_t kMostNameBytes = 64;

// Returns the kernel's name of a live thread; empty if there is no such thread.
std::string NameNow(pid_t pid, pid_t tid) {
  auto name = ReadFile(fmt::format("/proc/{}/task/{}/comm", pid, tid), kMostNameBytes);
  if (!name) return "";
  if (name->ends_with('\n')) name->pop_back();
  return *std::move(name);
}

}  // namespace

// Replaces the data of an earlier thread with the same id.
void ThreadList::Put(pid_t tid, std::string name) {
  known_.insert_or_assign(tid, Known{.name = std::move(name)});
}

ThreadList::Known& ThreadList::KnownOf(pid_t pid, pid_t tid) {
  const auto [known, is_new] = known_.try_emplace(tid);
  if (is_new) known->second.name = NameNow(pid, tid);
  return known->second;
}

void ThreadList::Take(const perf::ForkRecord& record) {
  const auto parent = known_.find(record.parent_tid);
  Put(record.tid, parent == known_.end() ? NameNow(record.pid, record.tid) : parent->second.name);
}

void ThreadList::Take(const perf::ExecRecord& record) { Put(record.pid, std::string(record.name)); }

void ThreadList::Take(const perf::NameRecord& record) {
  Known& known = KnownOf(record.pid, record.tid);
  known.name = record.name;
  if (known.index != kNotListed) threads_[known.index].name = record.name;
  if (record.pid != record.tid || known.index == kNotListed) return;
  // Threads that executed another program before keep that program's name.
  for (SampledThread& thread : threads_) {
    const auto now = known_.find(thread.tid);
    const bool is_of_it =
        thread.pid == record.pid && now != known_.end() &&
        now->second.index == static_cast<std::uint32_t>(&thread - threads_.data());
    if (is_of_it) thread.process = record.name;
  }
}

void ThreadList::Take(const perf::ExitRecord& record) {
  const auto known = known_.find(record.tid);
  if (known == known_.end()) return;
  known->second.has_ended = true;
  ended_.push_back(record.tid);
  if (ended_.size() <= kMostEnded) return;
  const auto oldest = known_.find(ended_.front());
  if (oldest != known_.end() && oldest->second.has_ended) known_.erase(oldest);
  ended_.pop_front();
}

std::uint32_t ThreadList::Of(pid_t pid, pid_t tid) {
  if (const auto found = known_.find(tid);
      found != known_.end() && found->second.index != kNotListed) {
    return found->second.index;
  }
  const std::string process = KnownOf(pid, pid).name;
  Known& known = KnownOf(pid, tid);
  known.index = static_cast<std::uint32_t>(threads_.size());
  threads_.push_back({.pid = pid, .tid = tid, .process = process, .name = known.name});
  return known.index;
}

pid_t ThreadList::ProcessOf(pid_t tid) const {
  const auto found = known_.find(tid);
  if (found == known_.end() || found->second.index == kNotListed) return 0;
  return threads_[found->second.index].pid;
}

}  // namespace fieldcost::trace

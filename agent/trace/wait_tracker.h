#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/perf/perf_record.h"

namespace fieldcost::trace {

// Determines from the kernel's switch records when each thread had no CPU. Pure; not thread-safe.
//
// Stack: the type of a waiting thread's stack, which this class only stores.
template <typename Stack>
class WaitTracker {
 public:
  static constexpr std::size_t kMostThreads = 65'536;

  // A wait, or a part of one. Those of one thread do not overlap, and add up to its waiting time.
  struct Wait {
    pid_t pid = 0;
    pid_t tid = 0;
    std::uint64_t since_ns = 0;  // when the whole wait began
    std::uint64_t begin_ns = 0;
    std::uint64_t end_ns = 0;
    bool preempted = false;      // it waited only for a CPU
    bool is_over = true;         // false: the wait continues
    std::optional<Stack> stack;  // where it waited, if read in time
    std::uint64_t length_ns() const { return end_ns - begin_ns; }
    std::uint64_t whole_ns() const { return end_ns - since_ns; }  // so far
  };

  // The thread is known from another source to have been waiting since `time`.
  void WaitsSince(pid_t pid, pid_t tid, std::uint64_t time) {
    if (threads_.size() >= kMostThreads) threads_.clear();
    threads_.insert_or_assign(tid, Thread{.pid = pid, .tid = tid, .out_ns = time, .is_out = true});
  }

  // Returns the wait that has ended, if any. A wait without a known beginning, as for a thread that
  // has just begun, does not count.
  std::optional<Wait> Switch(const perf::SwitchRecord& record, std::uint64_t time);

  // Calls `take(record, time)` with the latest switch of each thread.
  template <typename Take>
  void ForEachLatest(const Take& take) const {
    for (const auto& [tid, thread] : threads_) {
      take(perf::SwitchRecord{.pid = thread.pid,
                              .tid = tid,
                              .out = thread.is_out,
                              .preempted = thread.is_out && thread.preempted},
           thread.is_out ? thread.out_ns : thread.in_ns);
    }
  }

  // Returns since when the thread has waited, if its stack was not read before `time`.
  std::optional<std::uint64_t> UnreadSince(pid_t tid, std::uint64_t time) const {
    const auto found = threads_.find(tid);
    if (found == threads_.end() || !found->second.is_out || found->second.preempted ||
        (found->second.read && found->second.read->time_ns <= time))
      return std::nullopt;
    return found->second.out_ns;
  }

  void Exit(pid_t tid) { threads_.erase(tid); }
  bool Knows(pid_t tid) const { return threads_.contains(tid); }
  std::size_t threads() const { return threads_.size(); }

  // Reads the stacks of threads that have waited since before `time` and have none yet, at most
  // `most` of them. `read` returns the stack and the time at which it was read; nullopt: it is
  // unavailable. There are at most kMostTries attempts per wait. Returns the earliest start of the
  // remaining waits.
  static constexpr int kMostTries = 3;
  struct Read {
    Stack stack;
    std::uint64_t time_ns = 0;
  };
  using Reader = std::function<std::optional<Read>(pid_t pid, pid_t tid)>;
  std::optional<std::uint64_t> ReadStacks(std::uint64_t time, std::size_t most, const Reader& read);
  // Sets the stack of a thread that UnreadSince() returned.
  void SetRead(pid_t tid, Read read) { threads_.at(tid).read = std::move(read); }

  // Returns the elapsed parts, up to `time`, of waits in progress that are at least `least_ns`
  // long.
  std::vector<Wait> TakePassed(std::uint64_t time, std::uint64_t least_ns);
  // Ends all waits in progress, and returns them.
  std::vector<Wait> EndAll(std::uint64_t time);

 private:
  struct Thread {
    pid_t pid = 0;
    pid_t tid = 0;
    std::uint64_t out_ns = 0;
    std::uint64_t in_ns = 0;  // when it last got a CPU
    bool is_out = false;
    bool preempted = false;
    std::uint64_t told_ns = 0;  // end of the last wait, or part, that was returned
    int tries = 0;
    std::optional<Read> read;
  };
  static Wait PartOf(Thread& thread, std::uint64_t end);
  static Wait WaitOf(Thread& thread, std::uint64_t end);

  std::unordered_map<pid_t, Thread> threads_;
};

template <typename Stack>
auto WaitTracker<Stack>::PartOf(Thread& thread, std::uint64_t end) -> Wait {
  const std::uint64_t begin = std::max(thread.out_ns, thread.told_ns);
  Wait part{.pid = thread.pid,
            .tid = thread.tid,
            .since_ns = thread.out_ns,
            .begin_ns = begin,
            .end_ns = std::max(begin, end),
            .preempted = thread.preempted,
            .is_over = false,
            .stack = {}};
  // Valid only if it was read while the thread still waited.
  if (thread.read && thread.read->time_ns <= end) part.stack = thread.read->stack;
  thread.told_ns = part.end_ns;
  return part;
}

template <typename Stack>
auto WaitTracker<Stack>::WaitOf(Thread& thread, std::uint64_t end) -> Wait {
  Wait wait = PartOf(thread, end);
  wait.is_over = true;
  thread.read.reset();
  thread.tries = 0;
  thread.is_out = false;
  return wait;
}

template <typename Stack>
auto WaitTracker<Stack>::Switch(const perf::SwitchRecord& record, std::uint64_t time)
    -> std::optional<Wait> {
  if (threads_.size() >= kMostThreads && !threads_.contains(record.tid)) threads_.clear();
  Thread& thread = threads_[record.tid];
  thread.pid = record.pid;
  thread.tid = record.tid;
  if (!record.out) {
    thread.in_ns = time;
    if (!thread.is_out) return std::nullopt;
    return WaitOf(thread, time);
  }
  thread.is_out = true;
  thread.out_ns = time;
  thread.preempted = record.preempted;
  thread.tries = 0;
  thread.read.reset();
  // Records of two CPUs may arrive in the wrong order.
  if (time >= thread.in_ns) return std::nullopt;
  return WaitOf(thread, thread.in_ns);
}

template <typename Stack>
std::optional<std::uint64_t> WaitTracker<Stack>::ReadStacks(std::uint64_t time, std::size_t most,
                                                            const Reader& read) {
  std::optional<std::uint64_t> next;
  for (auto& [tid, thread] : threads_) {
    if (!thread.is_out || thread.preempted || thread.read || thread.tries >= kMostTries) continue;
    if (thread.out_ns > time || most == 0) {
      next = std::min(next.value_or(thread.out_ns), thread.out_ns);
      continue;
    }
    ++thread.tries;
    thread.read = read(thread.pid, tid);
    --most;
  }
  return next;
}

template <typename Stack>
auto WaitTracker<Stack>::TakePassed(std::uint64_t time, std::uint64_t least_ns)
    -> std::vector<Wait> {
  std::vector<Wait> parts;
  for (auto& [tid, thread] : threads_) {
    const std::uint64_t begin = std::max(thread.out_ns, thread.told_ns);
    if (thread.is_out && begin < time && time - begin >= least_ns)
      parts.push_back(PartOf(thread, time));
  }
  return parts;
}

template <typename Stack>
auto WaitTracker<Stack>::EndAll(std::uint64_t time) -> std::vector<Wait> {
  std::vector<Wait> waits;
  for (auto& [tid, thread] : threads_) {
    if (thread.is_out) waits.push_back(WaitOf(thread, time));
  }
  return waits;
}

}  // namespace fieldcost::trace

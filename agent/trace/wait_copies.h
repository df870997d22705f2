#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "agent/perf/perf_record.h"
#include "agent/perf/wait_stack.h"

namespace fieldcost::trace {

// Copies the stacks of waiting threads while the sampler cannot process the kernel's records, so
// that they can be unwound once it processes these waits. Follows the switch records ahead of it.
// Not thread-safe.
class WaitCopies {
 public:
  static constexpr std::size_t kMostThreads = 65'536;
  static constexpr std::size_t kMostStackBytes = std::size_t{64} << 10;
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;  // of all copies
  static constexpr int kMostTries = 3;                              // per wait

  struct Copy {
    perf::WaitCopy stack;
    std::uint64_t time_ns = 0;  // when it was complete
  };
  using Copier = std::function<std::optional<perf::WaitCopy>(pid_t pid, pid_t tid)>;
  using Clock = std::function<std::uint64_t()>;

  // The copier and the clock are replaced by tests.
  explicit WaitCopies(Copier copier, Clock clock)
      : copier_(std::move(copier)), clock_(std::move(clock)) {}
  WaitCopies();

  // Takes a record. Records may arrive repeatedly: those older than the thread's latest one are
  // ignored.
  void Follow(const perf::SwitchRecord& record, std::uint64_t time);
  // Copies the stacks of threads that have waited for at least `least_ns` and have no copy yet,
  // unless there are kMostBytes of copies.
  void Look(std::uint64_t least_ns);
  // Returns the copy made in the thread's wait since `since_ns`, if any, and forgets it and those
  // of earlier waits.
  std::optional<Copy> Take(pid_t tid, std::uint64_t since_ns);
  // Called when the thread has ended.
  void Exit(pid_t tid, std::uint64_t time);

  bool empty() const { return copies_.empty(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Thread {
    pid_t pid = 0;
    std::uint64_t time_ns = 0;  // of its latest record
    bool waits = false;
    int tries = 0;
  };
  void Forget(pid_t tid, std::uint64_t since_ns);

  Copier copier_;
  Clock clock_;
  std::unordered_map<pid_t, Thread> threads_;
  std::map<std::pair<pid_t, std::uint64_t>, Copy> copies_;  // by thread and begin of the wait
  std::size_t bytes_ = 0;
};

}  // namespace fieldcost::trace

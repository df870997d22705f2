#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/perf/perf_record.h"

namespace fieldcost::trace {

// A thread while it executes one program; an exec makes it a different one here.
struct SampledThread {
  pid_t pid = 0;
  pid_t tid = 0;
  std::string process;  // untrusted; name of the main thread; empty: unknown
  std::string name;     // untrusted; the thread's own name
  bool operator==(const SampledThread&) const = default;
};

// The threads that have samples, each once, with their names from the kernel's records of forks,
// execs and names. Without such records, as for a process that was already running, names come from
// /proc. Not thread-safe.
class ThreadList {
 public:
  // The number of ended threads whose names are still kept, for late records.
  static constexpr std::size_t kMostEnded = 4'096;

  // Only grows; names may change.
  const std::vector<SampledThread>& all() const { return threads_; }

  void Take(const perf::ForkRecord& record);
  void Take(const perf::ExecRecord& record);
  void Take(const perf::NameRecord& record);
  void Take(const perf::ExitRecord& record);

  // Returns its index in all().
  std::uint32_t Of(pid_t pid, pid_t tid);
  // Returns the process id of the thread with this id; 0 if it is not in all().
  pid_t ProcessOf(pid_t tid) const;

 private:
  static constexpr std::uint32_t kNotListed = UINT32_MAX;
  struct Known {
    std::string name;
    std::uint32_t index = kNotListed;
    bool has_ended = false;
  };

  Known& KnownOf(pid_t pid, pid_t tid);
  void Put(pid_t tid, std::string name);

  std::vector<SampledThread> threads_;
  std::unordered_map<pid_t, Known> known_;  // by tid
  std::deque<pid_t> ended_;
};

}  // namespace fieldcost::trace

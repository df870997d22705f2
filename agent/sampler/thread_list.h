#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/sampler/perf_record.h"

namespace fieldcost::sampler {

// A thread while it executes one program: after an exec it is another one here.
struct SampledThread {
  pid_t pid = 0;
  pid_t tid = 0;
  std::string process;  // untrusted; name of the main thread; empty: not known
  std::string name;     // untrusted; its own
  bool operator==(const SampledThread&) const = default;
};

// Threads of which there are samples, each once, with their names, by what the kernel records of
// forks, execs and names. Where it recorded nothing, as of a process that ran before, /proc has the
// name. Not thread-safe.
class ThreadList {
 public:
  // Of so many threads that have ended names are known yet, for what is recorded late.
  static constexpr std::size_t kMostEnded = 4'096;

  // They only grow; names may change.
  const std::vector<SampledThread>& all() const { return threads_; }

  void Take(const ForkRecord& record);
  void Take(const ExecRecord& record);
  void Take(const NameRecord& record);
  void Take(const ExitRecord& record);

  // Its index in all().
  std::uint32_t Of(pid_t pid, pid_t tid);
  // The process id of the thread with this id; 0 if it is not in all().
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

}  // namespace fieldcost::sampler

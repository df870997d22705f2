#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace fieldcost::trace {

// Computes from switches how long each thread has had each CPU, which is its event's count there
// except for the duration of switches. Pure; not thread-safe.
class RunTimes {
 public:
  static constexpr std::size_t kMostThreads = 65'536;

  explicit RunTimes(std::size_t cpus) : cpus_(cpus) {}

  // The thread has the CPU from then on. Has no effect if that is already known.
  void In(pid_t tid, std::size_t cpu, std::uint64_t time);
  void Out(pid_t tid, std::uint64_t time);

  // Receives how long the thread had a CPU; called once per CPU.
  using Sink = std::function<void(pid_t tid, std::uint64_t run_ns)>;
  void Exit(pid_t tid, std::uint64_t time, const Sink& sink);
  void ExitAll(std::uint64_t time, const Sink& sink);

  // Returns the sum over all live threads of the number of CPUs that each has used.
  std::size_t used() const { return used_; }

 private:
  struct Thread {
    bool is_in = false;
    std::size_t cpu = 0;
    std::uint64_t in_ns = 0;
    std::vector<std::uint64_t> run_ns;  // [cpu]
  };
  void End(pid_t tid, Thread& thread, std::uint64_t time, const Sink& sink);

  std::size_t cpus_;
  std::size_t used_ = 0;
  std::unordered_map<pid_t, Thread> threads_;
};

}  // namespace fieldcost::trace

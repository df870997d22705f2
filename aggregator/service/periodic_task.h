#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace fieldcost::aggregator {

// Work on a thread of its own, every so often and on demand; never twice at a time. Thread-safe.
class PeriodicTask {
 public:
  // `work` learns whether it was asked for; it must not throw. `interval` 0: only on demand.
  // `at_start`: a first time at once.
  PeriodicTask(std::chrono::seconds interval, bool at_start, std::function<void(bool asked)> work);
  // Waits for the work in progress.
  ~PeriodicTask();
  PeriodicTask(const PeriodicTask&) = delete;
  PeriodicTask& operator=(const PeriodicTask&) = delete;

  // Asks for one more run, as soon as the one in progress is done.
  void Ask();
  // Whether nothing is in progress or asked for.
  bool idle() const;

  // Begins nothing more; waits at most so long for what is in progress. False if it still is.
  bool Stop(std::chrono::milliseconds limit);

 private:
  void Run();

  const std::chrono::seconds interval_;
  const std::function<void(bool)> work_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool due_at_once_;
  bool asked_ = false;
  bool busy_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace fieldcost::aggregator

#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "common/base/mutex.h"

namespace fieldcost::aggregator {

// Runs work on its own thread, periodically and on demand; never concurrently. Thread-safe.
class PeriodicTask {
 public:
  // `work` gets whether the run was requested by Ask(); it must not throw. `interval` 0: only on
  // demand. `at_start`: also runs at once.
  PeriodicTask(std::chrono::seconds interval, bool at_start, std::function<void(bool asked)> work);
  // Waits for the work in progress.
  ~PeriodicTask();
  PeriodicTask(const PeriodicTask&) = delete;
  PeriodicTask& operator=(const PeriodicTask&) = delete;

  // Requests one more run, as soon as the current one is done.
  void Ask();
  // Whether no run is in progress or requested.
  bool idle() const;

  // Starts no further runs; waits at most `limit` for the current one. False if it is still
  // running.
  bool Stop(std::chrono::milliseconds limit);

 private:
  void Run();

  const std::chrono::seconds interval_;
  const std::function<void(bool)> work_;
  mutable Mutex mutex_;
  CondVar changed_;
  bool due_at_once_ FIELDCOST_GUARDED_BY(mutex_);
  bool asked_ FIELDCOST_GUARDED_BY(mutex_) = false;
  bool busy_ FIELDCOST_GUARDED_BY(mutex_) = false;
  bool stopping_ FIELDCOST_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace fieldcost::aggregator

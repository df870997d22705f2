#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "common/base/mutex.h"

namespace fieldcost {

// A few threads for tasks that wait for the disk, with a bounded queue. Thread-safe.
class WorkerPool {
 public:
  WorkerPool(unsigned threads, std::size_t queue_limit);
  ~WorkerPool();  // calls Stop()
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Drops `work` and returns false if the queue is full or the pool is stopping. `work` must not
  // throw.
  bool TryRun(std::function<void()> work) FIELDCOST_EXCLUDES(mutex_);

  // Accepts no more work, finishes the queue, and joins the threads. Idempotent.
  void Stop() FIELDCOST_EXCLUDES(mutex_);

 private:
  void RunWorker() FIELDCOST_EXCLUDES(mutex_);

  const std::size_t queue_limit_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<std::function<void()>> queue_ FIELDCOST_GUARDED_BY(mutex_);
  bool stopping_ FIELDCOST_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace fieldcost

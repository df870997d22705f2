#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

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
  bool TryRun(std::function<void()> work);

  // Accepts no more work, finishes the queue, and joins the threads. Idempotent.
  void Stop();

 private:
  void RunWorker();

  const std::size_t queue_limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace fieldcost

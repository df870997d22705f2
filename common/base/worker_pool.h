#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace fieldcost {

// A few threads for work that waits for the disk, behind a queue that never grows past its limit.
// Thread-safe.
class WorkerPool {
 public:
  WorkerPool(unsigned threads, std::size_t queue_limit);
  ~WorkerPool();  // as Stop()
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False, and `work` is dropped, if the queue is full or the pool is stopping. `work` must not
  // throw.
  bool TryRun(std::function<void()> work);

  // Takes no more work, finishes what is queued, ends the threads. Idempotent.
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

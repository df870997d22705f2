#include "common/base/worker_pool.h"

#include <utility>

namespace fieldcost {

WorkerPool::WorkerPool(unsigned threads, std::size_t queue_limit) : queue_limit_(queue_limit) {
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { RunWorker(); });
}

WorkerPool::~WorkerPool() { Stop(); }

bool WorkerPool::TryRun(std::function<void()> work) {
  const MutexLock lock(mutex_);
  if (stopping_ || queue_.size() >= queue_limit_) return false;
  queue_.push_back(std::move(work));
  changed_.NotifyOne();
  return true;
}

void WorkerPool::Stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void WorkerPool::RunWorker() {
  MutexLock lock(mutex_);
  for (;;) {
    changed_.Wait(mutex_,
                  [this]() FIELDCOST_REQUIRES(mutex_) { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    lock.Unlock();
    work();
    lock.Lock();
  }
}

}  // namespace fieldcost

#pragma once

#include <condition_variable>
#include <mutex>

namespace fieldcost::store {

// Admits many threads at the same time, or one exclusively. A thread that waits for exclusive
// access has priority over new ones, so that a stream of them cannot starve it (glibc's shared
// mutex prefers readers). Thread-safe.
class Gate {
 public:
  void Enter() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !closed_; });
    ++inside_;
  }
  void Leave() {
    const std::lock_guard lock(mutex_);
    --inside_;
    changed_.notify_all();
  }
  // Admits no further threads and waits until none is inside. One caller at a time.
  void Close() {
    std::unique_lock lock(mutex_);
    closed_ = true;
    changed_.wait(lock, [this] { return inside_ == 0; });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    closed_ = false;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool closed_ = false;
};

}  // namespace fieldcost::store

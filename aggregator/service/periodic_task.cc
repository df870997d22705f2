#include "aggregator/service/periodic_task.h"

#include <utility>

namespace fieldcost::aggregator {

PeriodicTask::PeriodicTask(std::chrono::seconds interval, bool at_start,
                           std::function<void(bool asked)> work)
    : interval_(interval),
      work_(std::move(work)),
      due_at_once_(at_start),
      thread_([this] { Run(); }) {}

PeriodicTask::~PeriodicTask() {
  Stop(std::chrono::milliseconds(0));
  thread_.join();
}

void PeriodicTask::Ask() {
  const std::lock_guard lock(mutex_);
  asked_ = true;
  changed_.notify_all();
}

bool PeriodicTask::idle() const {
  const std::lock_guard lock(mutex_);
  return !busy_ && !asked_ && !due_at_once_;
}

bool PeriodicTask::Stop(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  return changed_.wait_for(lock, limit, [this] { return !busy_; });
}

void PeriodicTask::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto called = [this] { return stopping_ || asked_ || due_at_once_; };
    if (interval_.count() == 0) {
      changed_.wait(lock, called);
    } else {
      changed_.wait_for(lock, interval_, called);
    }
    if (stopping_) return;
    const bool asked = std::exchange(asked_, false);
    due_at_once_ = false;
    busy_ = true;
    lock.unlock();
    work_(asked);
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace fieldcost::aggregator

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
  const MutexLock lock(mutex_);
  asked_ = true;
  changed_.NotifyAll();
}

bool PeriodicTask::idle() const {
  const MutexLock lock(mutex_);
  return !busy_ && !asked_ && !due_at_once_;
}

bool PeriodicTask::Stop(std::chrono::milliseconds limit) {
  const MutexLock lock(mutex_);
  stopping_ = true;
  changed_.NotifyAll();
  return changed_.WaitFor(mutex_, limit, [this]() FIELDCOST_REQUIRES(mutex_) { return !busy_; });
}

void PeriodicTask::Run() {
  MutexLock lock(mutex_);
  for (;;) {
    const auto called = [this]() FIELDCOST_REQUIRES(mutex_) {
      return stopping_ || asked_ || due_at_once_;
    };
    if (interval_.count() == 0) {
      changed_.Wait(mutex_, called);
    } else {
      changed_.WaitFor(mutex_, interval_, called);
    }
    if (stopping_) return;
    const bool asked = std::exchange(asked_, false);
    due_at_once_ = false;
    busy_ = true;
    lock.Unlock();
    work_(asked);
    lock.Lock();
    busy_ = false;
    changed_.NotifyAll();
  }
}

}  // namespace fieldcost::aggregator

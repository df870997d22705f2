#pragma once

#include "aggregator/store/lock_order.h"
#include "common/base/mutex.h"

namespace fieldcost::store {

// Admits many threads at the same time, or one exclusively. A thread that waits for exclusive
// access has priority over new ones, so that a stream of them cannot starve it (glibc's shared
// mutex prefers readers). Thread-safe.
class FIELDCOST_LOCK Gate {
 public:
  void Enter() FIELDCOST_ACQUIRE_SHARED() FIELDCOST_NO_THREAD_SAFETY_ANALYSIS {
    const MutexLock lock(mutex_);
    changed_.Wait(mutex_, [this]() FIELDCOST_REQUIRES(mutex_) { return !closed_; });
    ++inside_;
  }
  void Leave() FIELDCOST_RELEASE_SHARED() FIELDCOST_NO_THREAD_SAFETY_ANALYSIS {
    const MutexLock lock(mutex_);
    --inside_;
    changed_.NotifyAll();
  }
  // Admits no further threads and waits until none is inside. One caller at a time.
  void Close() FIELDCOST_ACQUIRE() FIELDCOST_NO_THREAD_SAFETY_ANALYSIS {
    const MutexLock lock(mutex_);
    closed_ = true;
    changed_.Wait(mutex_, [this]() FIELDCOST_REQUIRES(mutex_) { return inside_ == 0; });
  }
  void Open() FIELDCOST_RELEASE() FIELDCOST_NO_THREAD_SAFETY_ANALYSIS {
    const MutexLock lock(mutex_);
    closed_ = false;
    changed_.NotifyAll();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int inside_ FIELDCOST_GUARDED_BY(mutex_) = 0;
  bool closed_ FIELDCOST_GUARDED_BY(mutex_) = false;
};

// Is inside a gate of the given level during its lifetime.
class FIELDCOST_SCOPED_LOCK InsideGate {
 public:
  InsideGate(Gate& gate, const LockLevel& level)
      FIELDCOST_ACQUIRE_SHARED(gate, level) FIELDCOST_NO_THREAD_SAFETY_ANALYSIS : gate_(gate) {
    static_cast<void>(level);
    gate_.Enter();
  }
  ~InsideGate() FIELDCOST_RELEASE_GENERIC() FIELDCOST_NO_THREAD_SAFETY_ANALYSIS { gate_.Leave(); }
  InsideGate(const InsideGate&) = delete;
  InsideGate& operator=(const InsideGate&) = delete;

 private:
  Gate& gate_;
};

// Keeps a gate of the given level closed during its lifetime.
class FIELDCOST_SCOPED_LOCK ClosedGate {
 public:
  ClosedGate(Gate& gate, const LockLevel& level)
      FIELDCOST_ACQUIRE(gate, level) FIELDCOST_NO_THREAD_SAFETY_ANALYSIS : gate_(gate) {
    static_cast<void>(level);
    gate_.Close();
  }
  ~ClosedGate() FIELDCOST_RELEASE() FIELDCOST_NO_THREAD_SAFETY_ANALYSIS { gate_.Open(); }
  ClosedGate(const ClosedGate&) = delete;
  ClosedGate& operator=(const ClosedGate&) = delete;

 private:
  Gate& gate_;
};

}  // namespace fieldcost::store

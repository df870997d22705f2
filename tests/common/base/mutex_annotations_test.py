"""Tests that clang checks the annotations of common/base/mutex.h: wrong uses do not compile.

Usage: mutex_annotations_test.py SOURCE_ROOT FLAG...

The flags are those with which clang compiles the product (see wrong_code.py).
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
import wrong_code  # noqa: E402

CODE = """#include "common/base/mutex.h"
using namespace fieldcost;
class Counter {
 public:
  void Add() FIELDCOST_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    AddLocked();
  }
  void Await() FIELDCOST_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    changed_.Wait(mutex_, [this]() FIELDCOST_REQUIRES(mutex_) { return count_ > 0; });
    --count_;
    lock.Unlock();
    changed_.NotifyAll();
  }
  int Shared() const {
    const ReaderLock lock(shared_mutex_);
    return shared_;
  }
  void SetShared(int shared) {
    const WriterLock lock(shared_mutex_);
    shared_ = shared;
  }
  void Both() {
    const MutexLock lock(mutex_);
    const MutexLock next_lock(next_mutex_);
    ++count_;
  }
  void Wrong() { WRONG }

 private:
  void AddLocked() FIELDCOST_REQUIRES(mutex_) { ++count_; }
  Mutex mutex_ FIELDCOST_ACQUIRED_BEFORE(next_mutex_);
  Mutex next_mutex_;
  mutable SharedMutex shared_mutex_;
  CondVar changed_;
  int count_ FIELDCOST_GUARDED_BY(mutex_) = 0;
  int shared_ FIELDCOST_GUARDED_BY(shared_mutex_) = 0;
  int* pointed_ FIELDCOST_PT_GUARDED_BY(mutex_) = nullptr;
};
"""

# The wrong use, and what clang must report.
WRONG = {
    "++count_;": "requires holding mutex 'mutex_'",
    "*pointed_ = 1;": "requires holding mutex 'mutex_'",
    "AddLocked();": "requires holding mutex 'mutex_'",
    "const MutexLock lock(next_mutex_); ++count_;": "requires holding mutex 'mutex_'",
    "MutexLock lock(mutex_); lock.Unlock(); ++count_;": "requires holding mutex 'mutex_'",
    "MutexLock lock(mutex_); Add();": "cannot call function 'Add' while mutex 'mutex_' is held",
    "changed_.Wait(mutex_, [] { return true; });": "requires holding mutex 'mutex_'",
    "const MutexLock lock(mutex_); changed_.Wait(mutex_, [this] { return count_ > 0; });":
        "requires holding mutex 'mutex_'",
    "mutex_.Lock();": "mutex 'mutex_' is still held at the end of function",
    "mutex_.Unlock();": "releasing mutex 'mutex_' that was not held",
    "const MutexLock one(mutex_); const MutexLock two(mutex_);": "already held",
    "const MutexLock next_lock(next_mutex_); const MutexLock lock(mutex_);":
        "mutex 'mutex_' must be acquired before 'next_mutex_'",
    "const ReaderLock lock(shared_mutex_); shared_ = 1;": "requires holding mutex 'shared_mutex_' exclusively",
    "if (mutex_.TryLock()) mutex_.Unlock(); ++count_;": "requires holding mutex 'mutex_'",
}


if __name__ == "__main__":
    sys.exit(wrong_code.check("base.mutex_annotations", CODE, WRONG))

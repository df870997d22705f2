"""Tests that clang checks the annotations of common/base/mutex.h: wrong uses do not compile.

Usage: mutex_annotations_test.py SOURCE_ROOT FLAG...

The flags are those with which clang compiles the product. Skipped (77) without clang++.
"""

import shutil
import subprocess
import sys

SKIPPED = 77  # CTest's SKIP_RETURN_CODE

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
  void Wrong();

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
void Counter::Wrong() { WRONG }
"""

# What is wrong, and what clang must report.
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


def compile_errors(compiler, root, flags, wrong):
    result = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{root}", "-x", "c++", *flags, "-Werror", "-"],
                            input=CODE.replace("WRONG", wrong), capture_output=True, text=True, check=False)
    return result.returncode, result.stderr


def main():
    root, *flags = sys.argv[1:]
    compiler = shutil.which("clang++-14") or shutil.which("clang++")
    if compiler is None:
        print("Skipped\nneeds clang++\n[  SKIPPED ] base.mutex_annotations")
        return SKIPPED
    failures = 0
    status, errors = compile_errors(compiler, root, flags, "")
    if status != 0:
        print(f"correct code does not compile:\n{errors}")
        failures += 1
    for wrong, expected in WRONG.items():
        status, errors = compile_errors(compiler, root, flags, wrong)
        if status == 0 or expected not in errors:
            print(f"clang does not report \"{expected}\" for: {wrong}\n{errors}")
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

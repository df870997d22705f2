#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <utility>

// Locks that clang's thread safety analysis knows, and the annotations for it. Builds with clang
// check them (-Wthread-safety, -Wthread-safety-beta); other compilers ignore them. All functions
// are inline calls of the standard library's. See
// https://clang.llvm.org/docs/ThreadSafetyAnalysis.html.
#ifdef __clang__
#define FIELDCOST_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define FIELDCOST_THREAD_ANNOTATION(x)
#endif

// Members. The lock that must be held to access a variable, or what a pointer points to.
#define FIELDCOST_GUARDED_BY(lock) FIELDCOST_THREAD_ANNOTATION(guarded_by(lock))
#define FIELDCOST_PT_GUARDED_BY(lock) FIELDCOST_THREAD_ANNOTATION(pt_guarded_by(lock))
// Locks. A thread that needs both acquires this one before or after the given ones.
#define FIELDCOST_ACQUIRED_BEFORE(...) FIELDCOST_THREAD_ANNOTATION(acquired_before(__VA_ARGS__))
#define FIELDCOST_ACQUIRED_AFTER(...) FIELDCOST_THREAD_ANNOTATION(acquired_after(__VA_ARGS__))

// Functions. The caller must hold the locks, at least for reading, or must not hold them.
#define FIELDCOST_REQUIRES(...) FIELDCOST_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define FIELDCOST_REQUIRES_SHARED(...) \
  FIELDCOST_THREAD_ANNOTATION(requires_shared_capability(__VA_ARGS__))
#define FIELDCOST_EXCLUDES(...) FIELDCOST_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
// Functions that acquire or release the locks; without an argument, `this`.
#define FIELDCOST_ACQUIRE(...) FIELDCOST_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define FIELDCOST_ACQUIRE_SHARED(...) \
  FIELDCOST_THREAD_ANNOTATION(acquire_shared_capability(__VA_ARGS__))
#define FIELDCOST_RELEASE(...) FIELDCOST_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define FIELDCOST_RELEASE_SHARED(...) \
  FIELDCOST_THREAD_ANNOTATION(release_shared_capability(__VA_ARGS__))
#define FIELDCOST_RELEASE_GENERIC(...) \
  FIELDCOST_THREAD_ANNOTATION(release_generic_capability(__VA_ARGS__))
// A function that acquires the locks if it returns the given value.
#define FIELDCOST_TRY_ACQUIRE(...) FIELDCOST_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
// A function that returns a reference to the lock.
#define FIELDCOST_RETURNS_LOCK(lock) FIELDCOST_THREAD_ANNOTATION(lock_returned(lock))
// The function's body is not checked, only its calls; a comment gives the reason.
#define FIELDCOST_NO_THREAD_SAFETY_ANALYSIS FIELDCOST_THREAD_ANNOTATION(no_thread_safety_analysis)

// Classes: a lock, and an object that holds a lock during its lifetime.
#define FIELDCOST_LOCK FIELDCOST_THREAD_ANNOTATION(capability("mutex"))
#define FIELDCOST_SCOPED_LOCK FIELDCOST_THREAD_ANNOTATION(scoped_lockable)

namespace fieldcost {

// A std::mutex.
class FIELDCOST_LOCK Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() FIELDCOST_ACQUIRE() { mutex_.lock(); }
  void Unlock() FIELDCOST_RELEASE() { mutex_.unlock(); }
  bool TryLock() FIELDCOST_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds a Mutex during its lifetime, except between Unlock() and Lock().
class FIELDCOST_SCOPED_LOCK MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) FIELDCOST_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() FIELDCOST_RELEASE() {
    if (is_held_) mutex_.Unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  // REQUIRES: it holds the mutex.
  void Unlock() FIELDCOST_RELEASE() {
    is_held_ = false;
    mutex_.Unlock();
  }
  // REQUIRES: it does not hold the mutex.
  void Lock() FIELDCOST_ACQUIRE() {
    mutex_.Lock();
    is_held_ = true;
  }

 private:
  Mutex& mutex_;
  bool is_held_ = true;
};

// A std::shared_mutex.
class FIELDCOST_LOCK SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void Lock() FIELDCOST_ACQUIRE() { mutex_.lock(); }
  void Unlock() FIELDCOST_RELEASE() { mutex_.unlock(); }
  void LockShared() FIELDCOST_ACQUIRE_SHARED() { mutex_.lock_shared(); }
  void UnlockShared() FIELDCOST_RELEASE_SHARED() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

// Holds a SharedMutex during its lifetime, to read what it guards.
class FIELDCOST_SCOPED_LOCK ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) FIELDCOST_ACQUIRE_SHARED(mutex) : mutex_(mutex) {
    mutex_.LockShared();
  }
  ~ReaderLock() FIELDCOST_RELEASE_GENERIC() { mutex_.UnlockShared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

// Holds a SharedMutex during its lifetime, to change what it guards.
class FIELDCOST_SCOPED_LOCK WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) FIELDCOST_ACQUIRE(mutex) : mutex_(mutex) {
    mutex_.Lock();
  }
  ~WriterLock() FIELDCOST_RELEASE() { mutex_.Unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mutex_;
};

// A std::condition_variable. All functions release the mutex while they wait, and hold it when they
// call `is_done` and return. Annotate a lambda that reads guarded members with the mutex:
//
//   changed_.Wait(mutex_, [this]() FIELDCOST_REQUIRES(mutex_) { return !queue_.empty(); });
//
// The analysis does not check the bodies, since it does not know which mutex `is_done` requires.
class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  // Returns once is_done().
  template <typename IsDone>
  void Wait(Mutex& mutex, IsDone is_done)
      FIELDCOST_REQUIRES(mutex) FIELDCOST_NO_THREAD_SAFETY_ANALYSIS {
    Adopted lock(mutex);
    changed_.wait(lock.lock, std::move(is_done));
  }
  // Returns is_done(), at the latest after `limit`.
  template <typename Rep, typename Period, typename IsDone>
  bool WaitFor(Mutex& mutex, std::chrono::duration<Rep, Period> limit, IsDone is_done)
      FIELDCOST_REQUIRES(mutex) FIELDCOST_NO_THREAD_SAFETY_ANALYSIS {
    Adopted lock(mutex);
    return changed_.wait_for(lock.lock, limit, std::move(is_done));
  }
  // Returns is_done(), at the latest at `deadline`.
  template <typename Clock, typename Duration, typename IsDone>
  bool WaitUntil(Mutex& mutex, std::chrono::time_point<Clock, Duration> deadline, IsDone is_done)
      FIELDCOST_REQUIRES(mutex) FIELDCOST_NO_THREAD_SAFETY_ANALYSIS {
    Adopted lock(mutex);
    return changed_.wait_until(lock.lock, deadline, std::move(is_done));
  }

  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

 private:
  // The mutex in the form that the standard library requires; held before and afterwards.
  struct Adopted {
    explicit Adopted(Mutex& mutex) : lock(mutex.mutex_, std::adopt_lock) {}
    ~Adopted() { lock.release(); }
    std::unique_lock<std::mutex> lock;
  };

  std::condition_variable changed_;
};

}  // namespace fieldcost

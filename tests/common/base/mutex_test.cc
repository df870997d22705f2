#include "common/base/mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace fieldcost {
namespace {

using std::chrono::milliseconds;

// Whether another thread could lock the mutex now.
bool IsFree(Mutex& mutex) {
  bool is_free = false;
  std::thread([&] {
    if (!mutex.TryLock()) return;
    is_free = true;
    mutex.Unlock();
  }).join();
  return is_free;
}

TEST(MutexTest, ExcludesOtherThreads) {
  struct {
    Mutex mutex;
    int count FIELDCOST_GUARDED_BY(mutex) = 0;
  } counter;
  constexpr int kTimes = 2000;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int time = 0; time < kTimes; ++time) {
        const MutexLock lock(counter.mutex);
        ++counter.count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const MutexLock lock(counter.mutex);
  EXPECT_EQ(counter.count, 4 * kTimes);
}

TEST(MutexTest, ALockHoldsTheMutexDuringItsLifetimeUnlessUnlocked) {
  Mutex mutex;
  EXPECT_TRUE(IsFree(mutex));
  {
    MutexLock lock(mutex);
    EXPECT_FALSE(IsFree(mutex));
    lock.Unlock();
    EXPECT_TRUE(IsFree(mutex));
    lock.Lock();
    EXPECT_FALSE(IsFree(mutex));
  }
  EXPECT_TRUE(IsFree(mutex));
  {
    MutexLock lock(mutex);
    lock.Unlock();
  }
  EXPECT_TRUE(IsFree(mutex));
}

TEST(MutexTest, AnyNumberOfReadersHoldASharedMutex) {
  SharedMutex mutex;
  std::atomic<bool> has_written = false;
  std::thread writer;
  {
    const ReaderLock first(mutex);
    std::thread([&] { const ReaderLock second(mutex); }).join();
    writer = std::thread([&] {
      const WriterLock lock(mutex);
      has_written = true;
    });
    EXPECT_FALSE(has_written);
  }
  writer.join();
  EXPECT_TRUE(has_written);
}

TEST(CondVarTest, WaitReleasesTheMutexUntilTheConditionHolds) {
  Mutex mutex;
  CondVar changed;
  bool is_ready = false;
  std::thread notifier([&] {
    const MutexLock lock(mutex);
    is_ready = true;
    changed.NotifyAll();
  });
  {
    const MutexLock lock(mutex);
    changed.Wait(mutex, [&] { return is_ready; });
    EXPECT_TRUE(is_ready);
    EXPECT_FALSE(IsFree(mutex));
  }
  EXPECT_TRUE(IsFree(mutex));
  notifier.join();
}

TEST(CondVarTest, WaitsEndAtTheirLimits) {
  Mutex mutex;
  CondVar changed;
  const MutexLock lock(mutex);
  const auto never = [] { return false; };
  EXPECT_FALSE(changed.WaitFor(mutex, milliseconds(1), never));
  EXPECT_FALSE(IsFree(mutex));
  EXPECT_FALSE(changed.WaitUntil(mutex, std::chrono::steady_clock::now() + milliseconds(1), never));
  EXPECT_FALSE(IsFree(mutex));
  EXPECT_TRUE(changed.WaitFor(mutex, milliseconds(0), [] { return true; }));
  EXPECT_TRUE(
      changed.WaitUntil(mutex, std::chrono::steady_clock::time_point(), [] { return true; }));
}

}  // namespace
}  // namespace fieldcost

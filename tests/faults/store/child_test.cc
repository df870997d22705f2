#include "tests/faults/store/child.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <unistd.h>

#include <cstdlib>
#include <future>

// <cassert> declares it only without NDEBUG.
extern "C" [[noreturn]] void __assert_fail(const char* assertion, const char* file,
                                           unsigned int line, const char* function) noexcept;

namespace fieldcost::faults {
namespace {

// Fails like the engine when a flush of all tables has failed.
void AbortLikeTheEngine(void*) { __assert_fail("!mems.empty()", "memtable_list.cc", 1, "flush"); }

void Fulfil(void* promise) { static_cast<std::promise<void>*>(promise)->set_value(); }

TEST(ChildTest, AnAbortLeavesTheEnginesThreadCountUnchanged) {
  for (const auto priority : {rocksdb::Env::HIGH, rocksdb::Env::LOW}) {
    const ChildResult result = RunInChild([priority]() -> Status {
      rocksdb::Env* const env = rocksdb::Env::Default();
      env->SetBackgroundThreads(1, priority);
      for (int abort = 0; abort < 3; ++abort) {
        const bool came_back = RunUnlessEngineAborts([=] {
          env->Schedule(AbortLikeTheEngine, nullptr, priority);
          for (;;) ::pause();
        });
        if (came_back) return Fail(ErrorCode::kInternal, "the abort was not noticed");
      }
      std::promise<void> promise;
      env->Schedule(Fulfil, &promise, priority);
      promise.get_future().wait();
      return {};
    });
    EXPECT_TRUE(result.good) << result.trouble;
  }
}

// A failed store's threads continue in the background.
TEST(ChildTest, AnAbortAfterTheWorkLeavesThreadsForWhatComesNext) {
  const ChildResult result = RunInChild([]() -> Status {
    rocksdb::Env* const env = rocksdb::Env::Default();
    env->SetBackgroundThreads(1, rocksdb::Env::HIGH);
    if (!RunUnlessEngineAborts([] {})) return Fail(ErrorCode::kInternal, "nothing has aborted");
    env->Schedule(AbortLikeTheEngine, nullptr, rocksdb::Env::HIGH);
    std::promise<void> promise;
    env->Schedule(Fulfil, &promise, rocksdb::Env::HIGH);
    promise.get_future().wait();
    return {};
  });
  EXPECT_TRUE(result.good) << result.trouble;
}

TEST(ChildTest, AnyOtherAbortEndsTheChild) {
  const ChildResult result = RunInChild([]() -> Status {
    RunUnlessEngineAborts([] { std::abort(); });
    return {};
  });
  EXPECT_FALSE(result.good);
  EXPECT_NE(result.trouble.find("ended by Aborted"), std::string::npos) << result.trouble;
}

}  // namespace
}  // namespace fieldcost::faults

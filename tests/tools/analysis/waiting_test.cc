#include "tools/analysis/waiting.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace fieldcost::analysis {
namespace {

bool Waits(const char* soname, const char* symbol) {
  return IsWaiting({.soname = soname, .symbol = symbol});
}

TEST(WaitingTest, KnowsFunctionsOfTheCLibraryAndOfGlib) {
  EXPECT_TRUE(Waits("libc.so.6", "poll"));
  EXPECT_TRUE(Waits("libc.so.6", "pthread_join"));
  EXPECT_TRUE(Waits("libpthread.so.0", "pthread_cond_wait"));
  EXPECT_TRUE(Waits("libglib-2.0.so.0", "g_main_loop_run"));
  EXPECT_FALSE(Waits("libc.so.6", "pthread_mutex_lock"));
  EXPECT_FALSE(Waits("libz.so.1", "poll"));  // a different function with that name
}

TEST(WaitingTest, KnowsFunctionsOfTheCxxLibrary) {
  for (const char* symbol : {
           "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE",
           "_ZNSt6thread4joinEv",
           "_ZNSt11this_thread11__sleep_forENSt6chrono8durationIlSt5ratioILl1ELl1EEEENS1_IlS2_ILl1"
           "ELl1000000000EEEE",
           "_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5"
           "ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE",
           "_ZNSt3_V222condition_variable_any4waitISt11unique_lockISt5mutexEEEvRT_",
       }) {
    EXPECT_TRUE(Waits("libstdc++.so.6", symbol)) << symbol;
  }
  // libc++ has an inline namespace.
  EXPECT_TRUE(
      Waits("libc++.so.1", "_ZNSt3__118condition_variable4waitERNS_11unique_lockINS_5mutexEEE"));
  EXPECT_TRUE(Waits("libc++.so.1", "_ZNSt3__16thread4joinEv"));
}

TEST(WaitingTest, KnowsTemplatesOfTheCxxLibraryInOtherLibraries) {
  // std::condition_variable::wait<Queue::Take()::{lambda()#1}>(...)
  EXPECT_TRUE(Waits("libvault.so",
                    "_ZNSt18condition_variable4waitIZN5Queue4TakeEvEUlvE_EEvRSt11unique_lockISt5"
                    "mutexET_"));
  EXPECT_TRUE(Waits("libvault.so", "_ZNSt6futureIiE3getEv"));
  EXPECT_TRUE(Waits("libvault.so", "_ZNKSt14__basic_futureIiE4waitEv"));
}

TEST(WaitingTest, LeavesOtherFunctionsOfCxx) {
  for (const char* symbol : {
           "_ZNSt18condition_variable10notify_oneEv",
           "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
           "_ZN5Queue4waitEv",  // Queue::wait(): may well compute
           "_ZN5boost6system10error_codeC1Ev",
           "_ZNSt6threadnonsense",  // not a C++ name
       }) {
    EXPECT_FALSE(Waits("libstdc++.so.6", symbol)) << symbol;
  }
}

TEST(WaitingTest, SeparatesWaitingFunctions) {
  std::vector<stats::ApiKey> apis = {{.soname = "libc.so.6", .symbol = "poll"},
                                     {.soname = "libc.so.6", .symbol = "memcpy"},
                                     {.soname = "libstdc++.so.6", .symbol = "_ZNSt6thread4joinEv"}};
  const auto waiting = SetWaitingApart(apis, [](const stats::ApiKey& api) { return api; });
  EXPECT_EQ(waiting, (std::set<std::string>{"poll", "_ZNSt6thread4joinEv"}));
  ASSERT_EQ(apis.size(), 1u);
  EXPECT_EQ(apis[0].symbol, "memcpy");
}

}  // namespace
}  // namespace fieldcost::analysis

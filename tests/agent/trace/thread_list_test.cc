#include "agent/trace/thread_list.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace fieldcost::trace {
namespace {

// Numbers that no process has, so anything not recorded is unknown.
constexpr pid_t kPid = 1 << 29;

perf::ForkRecord Fork(pid_t pid, pid_t tid, pid_t parent_pid, pid_t parent_tid) {
  return {.pid = pid, .parent_pid = parent_pid, .tid = tid, .parent_tid = parent_tid};
}

TEST(ThreadListTest, AThreadHasTheNameOfTheOneThatStartedItUntilItGetsAnother) {
  ThreadList list;
  list.Take(perf::ExecRecord{.pid = kPid, .name = "server"});
  list.Take(Fork(kPid, kPid + 1, kPid, kPid));
  EXPECT_TRUE(list.all().empty());
  EXPECT_EQ(list.Of(kPid, kPid + 1), 0U);
  EXPECT_EQ(list.Of(kPid, kPid), 1U);
  EXPECT_EQ(list.Of(kPid, kPid + 1), 0U);
  EXPECT_EQ(list.all(), (std::vector<SampledThread>{{kPid, kPid + 1, "server", "server"},
                                                    {kPid, kPid, "server", "server"}}));
  list.Take(perf::NameRecord{.pid = kPid, .tid = kPid + 1, .name = "worker"});
  list.Take(Fork(kPid, kPid + 2, kPid, kPid + 1));
  EXPECT_EQ(list.Of(kPid, kPid + 1), 0U);
  EXPECT_EQ(list.all()[0].name, "worker");
  EXPECT_EQ(list.all()[list.Of(kPid, kPid + 2)].name, "worker");
  // A process has the name of its main thread.
  list.Take(perf::NameRecord{.pid = kPid, .tid = kPid, .name = "server: 7"});
  for (const SampledThread& thread : list.all()) EXPECT_EQ(thread.process, "server: 7");
}

TEST(ThreadListTest, AnotherProgramIsAnotherThread) {
  ThreadList list;
  list.Take(perf::ExecRecord{.pid = kPid, .name = "sh"});
  const auto shell = list.Of(kPid, kPid);
  list.Take(Fork(kPid + 1, kPid + 1, kPid, kPid));
  const auto child = list.Of(kPid + 1, kPid + 1);
  list.Take(perf::ExecRecord{.pid = kPid + 1, .name = "gzip"});
  const auto gzip = list.Of(kPid + 1, kPid + 1);
  EXPECT_EQ(list.all()[shell], (SampledThread{kPid, kPid, "sh", "sh"}));
  EXPECT_EQ(list.all()[child], (SampledThread{kPid + 1, kPid + 1, "sh", "sh"}));
  EXPECT_EQ(list.all()[gzip], (SampledThread{kPid + 1, kPid + 1, "gzip", "gzip"}));
  // The previous thread with this number keeps its name.
  list.Take(perf::NameRecord{.pid = kPid + 1, .tid = kPid + 1, .name = "x"});
  EXPECT_EQ(list.all()[child].name, "sh");
  EXPECT_EQ(list.all()[child].process, "sh");
  EXPECT_EQ(list.all()[gzip].process, "x");
}

TEST(ThreadListTest, OneThatHasEndedIsKnownYetAndItsNumberIsUsedAgain) {
  ThreadList list;
  list.Take(perf::ExecRecord{.pid = kPid, .name = "make"});
  list.Take(Fork(kPid, kPid + 1, kPid, kPid));
  const auto first = list.Of(kPid, kPid + 1);
  list.Take(perf::ExitRecord{.pid = kPid, .tid = kPid + 1});
  EXPECT_EQ(list.Of(kPid, kPid + 1), first);
  list.Take(Fork(kPid, kPid + 1, kPid, kPid));
  EXPECT_NE(list.Of(kPid, kPid + 1), first);
  // The memory for ended threads is bounded, and running ones are not forgotten.
  for (pid_t tid = kPid + 2; tid < kPid + 3 + static_cast<pid_t>(ThreadList::kMostEnded); ++tid) {
    list.Take(Fork(kPid, tid, kPid, kPid));
    list.Take(perf::ExitRecord{.pid = kPid, .tid = tid});
  }
  EXPECT_EQ(list.all()[list.Of(kPid, kPid)].name, "make");
  EXPECT_EQ(list.all()[list.Of(kPid, kPid + 2)].name, "");
  EXPECT_EQ(list.all()[list.Of(kPid, kPid + 3)].name, "make");
}

TEST(ThreadListTest, NamesEarlierThreadsFromProc) {
  char name[16] = {};
  ASSERT_EQ(::prctl(PR_GET_NAME, name), 0);
  ThreadList list;
  EXPECT_EQ(list.all()[list.Of(::getpid(), ::getpid())].name, name);
  EXPECT_EQ(list.all()[list.Of(kPid, kPid + 9)].name, "");
}

}  // namespace
}  // namespace fieldcost::trace

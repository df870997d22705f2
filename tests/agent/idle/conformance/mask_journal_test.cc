#include "agent/idle/conformance/mask_journal.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "agent/idle/idle_probe.h"
#include "agent/idle/idle_thread_state.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::idle_agent {
namespace {

cpu_set_t MaskOf(pid_t tid) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  EXPECT_EQ(::sched_getaffinity(tid, sizeof mask, &mask), 0);
  return mask;
}

bool MayUseOnly(pid_t tid, std::uint32_t cpu) {
  const cpu_set_t mask = MaskOf(tid);
  return CPU_COUNT(&mask) == 1 && CPU_ISSET(cpu, &mask);
}

// A process that sleeps.
class Waiter {
 public:
  Waiter() : pid_(::fork()) {
    if (pid_ == 0) {
      ::pause();
      std::_Exit(0);
    }
  }
  ~Waiter() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

class MaskJournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const cpu_set_t mask = MaskOf(0);
    if (CPU_COUNT(&mask) < 2) GTEST_SKIP() << "this process may use one CPU only";
    cpu_ = UsableCpus().back();
    changed_ = {.pid = waiter_.pid(),
                .tid = waiter_.pid(),
                .start = StartOf(waiter_.pid(), waiter_.pid()).value_or(0),
                .cpu = cpu_,
                .before = mask};
  }
  void Pin() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu_, &one);
    ASSERT_EQ(::sched_setaffinity(waiter_.pid(), sizeof one, &one), 0);
  }
  // Changes masks in a process that is killed before it restores anything.
  void ChangeAndDie() {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto journal = MaskJournal::Create(directory_.path());
      if (journal && (*journal)->Begin(cpu_, changed_)) Pin();
      ::raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
  }

  fieldcost::testing::TempDir directory_;
  Waiter waiter_;
  std::uint32_t cpu_ = 0;
  ChangedMask changed_;
};

TEST_F(MaskJournalTest, RestoresMasksThatAKilledProcessHadChanged) {
  ChangeAndDie();
  EXPECT_TRUE(MayUseOnly(waiter_.pid(), cpu_));
  EXPECT_EQ(RestoreMasks(directory_.path()).value(), 1U);
  const cpu_set_t now = MaskOf(waiter_.pid());
  EXPECT_TRUE(CPU_EQUAL(&now, &changed_.before));
  EXPECT_EQ(RestoreMasks(directory_.path()).value(), 0U);
}

TEST_F(MaskJournalTest, KeepsMasksThatOthersHaveChangedSince) {
  ChangeAndDie();
  ASSERT_EQ(::sched_setaffinity(waiter_.pid(), sizeof changed_.before, &changed_.before), 0);
  EXPECT_EQ(RestoreMasks(directory_.path()).value(), 0U);
}

TEST_F(MaskJournalTest, DoesNotRestoreANewThreadOfTheSameNumber) {
  ++changed_.start;
  ChangeAndDie();
  EXPECT_EQ(RestoreMasks(directory_.path()).value(), 0U);
  EXPECT_TRUE(MayUseOnly(waiter_.pid(), cpu_));
}

TEST_F(MaskJournalTest, LeavesTheJournalOfARunningProcessAlone) {
  const auto journal = MaskJournal::Create(directory_.path());
  ASSERT_TRUE(journal.has_value());
  ASSERT_TRUE((*journal)->Begin(cpu_, changed_));
  Pin();
  EXPECT_EQ(RestoreMasks(directory_.path()).value(), 0U);
  EXPECT_TRUE(MayUseOnly(waiter_.pid(), cpu_));
  EXPECT_TRUE(Restore(changed_));
  EXPECT_FALSE(Restore(changed_));
}

TEST_F(MaskJournalTest, RemovesRestoredMasksFromTheJournal) {
  const auto journal = MaskJournal::Create(directory_.path());
  ASSERT_TRUE(journal.has_value());
  ASSERT_TRUE((*journal)->Begin(cpu_, changed_));
  (*journal)->End(cpu_);
  EXPECT_FALSE(std::filesystem::is_empty(directory_.path()));
  const pid_t child = ::fork();
  if (child == 0) {
    const auto other = MaskJournal::Create(directory_.path());
    const bool good = other && (*other)->Begin(cpu_, changed_);
    (*other)->End(cpu_);
    if (good) Pin();
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(RestoreMasks(directory_.path()).value(), 0U);
}

TEST_F(MaskJournalTest, WithoutADirectoryThereIsNothingToRestore) {
  EXPECT_EQ(RestoreMasks(directory_.path() / "none").value(), 0U);
}

}  // namespace
}  // namespace fieldcost::idle_agent

// Interrupts the writing of a tree at every system call that changes the disk: by an error, and by
// the end of the process. Clients must find one complete publication at any time, and the next run
// must complete the tree.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "tests/aggregator/publish/static_tree_fixture.h"

namespace {

constexpr int kNever = std::numeric_limits<int>::max();
constexpr int kKilled = 99;

// Calls until the fault; only calls of the thread that has set it count.
thread_local int calls_left = kNever;
thread_local bool ends_process = false;

// Whether the present call must fail.
bool IsFaulty() {
  if (calls_left == kNever || --calls_left != 0) return false;
  if (ends_process) ::_exit(kKilled);
  errno = EIO;
  return true;
}

template <typename Function>
Function* Original(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// In place of libc's. A renamed file may have been renamed before the process ended, so that rename
// is interrupted after its effect, too.
extern "C" {
ssize_t write(int fd, const void* bytes, size_t size) {
  if (IsFaulty()) return -1;
  static auto* const original = Original<ssize_t(int, const void*, size_t)>("write");
  return original(fd, bytes, size);
}
int fsync(int fd) {
  if (IsFaulty()) return -1;
  static auto* const original = Original<int(int)>("fsync");
  return original(fd);
}
int rename(const char* from, const char* to) noexcept {
  if (IsFaulty()) return -1;
  static auto* const original = Original<int(const char*, const char*)>("rename");
  const int result = original(from, to);
  return IsFaulty() ? -1 : result;
}
int mkdir(const char* path, mode_t mode) noexcept {
  if (IsFaulty()) return -1;
  static auto* const original = Original<int(const char*, mode_t)>("mkdir");
  return original(path, mode);
}
int unlink(const char* path) noexcept {
  if (IsFaulty()) return -1;
  static auto* const original = Original<int(const char*)>("unlink");
  return original(path);
}
int remove(const char* path) noexcept {
  if (IsFaulty()) return -1;
  static auto* const original = Original<int(const char*)>("remove");
  return original(path);
}
}

namespace fieldcost::publish {
namespace {

using ::testing::AnyOf;
using ::testing::IsEmpty;

enum class Interruption { kError, kEndOfProcess };

class StaticTreeFaultTest : public StaticTreeFixture,
                            public ::testing::WithParamInterface<Interruption> {
 protected:
  // Interrupts a run at its Nth call; returns whether it was interrupted.
  bool Interrupt(int call) {
    if (GetParam() == Interruption::kError) {
      calls_left = call;
      const auto report = Write();
      const bool was_reached = calls_left <= 0;
      calls_left = kNever;
      EXPECT_EQ(report.has_value(), !was_reached);
      return was_reached;
    }
    const pid_t child = ::fork();
    if (child == 0) {
      ends_process = true;
      calls_left = call;
      const bool is_done = Write().has_value();
      ::_exit(is_done ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_THAT(WEXITSTATUS(status), AnyOf(0, kKilled));
    return WEXITSTATUS(status) == kKilled;
  }

  // Restores the tree to `saved` (which may not exist), for the next case.
  void Reset(const std::filesystem::path& saved) {
    std::filesystem::remove_all(tree());
    if (std::filesystem::exists(saved)) {
      std::filesystem::copy(saved, tree(), std::filesystem::copy_options::recursive);
    }
  }

  // Interrupts at every call. Returns how many there are.
  int InterruptEverywhere(const std::filesystem::path& saved,
                          const std::vector<std::uint64_t>& versions) {
    MustWrite();
    const auto expected = Contents();
    int call = 1;
    for (;; ++call) {
      SCOPED_TRACE(call);
      Reset(saved);
      const bool was_interrupted = Interrupt(call);
      if (std::filesystem::exists(tree() / "v1/timestamp")) {
        EXPECT_THAT(Problems(), IsEmpty());
        EXPECT_THAT(versions, ::testing::Contains(version_));
      } else {
        EXPECT_FALSE(std::filesystem::exists(saved));
      }
      MustWrite();
      EXPECT_EQ(Contents(), expected);
      if (!was_interrupted || HasFailure()) return call;
    }
  }
};

TEST_P(StaticTreeFaultTest, TheFirstTree) {
  EXPECT_GT(InterruptEverywhere(dir_.path() / "none", {1}), 20);
}

TEST_P(StaticTreeFaultTest, TheNextPublicationWithOldFilesToDelete) {
  MustWrite();
  PublishMore();
  MustWrite();
  clock_.Advance(std::chrono::hours(49));
  std::filesystem::copy(tree(), dir_.path() / "saved", std::filesystem::copy_options::recursive);
  PublishMore();
  EXPECT_GT(InterruptEverywhere(dir_.path() / "saved", {2, 3}), 20);
}

INSTANTIATE_TEST_SUITE_P(All, StaticTreeFaultTest,
                         ::testing::Values(Interruption::kError, Interruption::kEndOfProcess),
                         [](const auto& tested) {
                           return tested.param == Interruption::kError ? "Error" : "EndOfProcess";
                         });

}  // namespace
}  // namespace fieldcost::publish

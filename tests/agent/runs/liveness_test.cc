// Tests real processes that hold a run file in the same way as the preload library.

#include "agent/runs/liveness.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <utility>

#include "common/base/file.h"
#include "tests/support/run_file_writer.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::runs {
namespace {

class LivenessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    file_.emplace(path_, testing::RunFileOptions{});
    fd_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(fd_.valid());
    ASSERT_EQ(::pipe2(to_child_, O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(from_child_, O_CLOEXEC), 0);
  }
  void TearDown() override {
    if (child_ > 0) Kill();
    for (const int fd : {to_child_[0], to_child_[1], from_child_[0], from_child_[1]}) ::close(fd);
  }

  // Forks a child that holds the file, does `then`, and waits to be killed.
  void Start(const std::function<void()>& then) {
    child_ = ::fork();
    ASSERT_GE(child_, 0);
    if (child_ != 0) return;
    ::alarm(60);  // it never outlives the test
    Hold();
    then();
    for (;;) ::pause();
  }

  // Locks the open file, maps it, and closes the only descriptor.
  void Hold() const {
    const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(fd, F_OFD_SETLK, &lock) != 0) ::_exit(1);
    void* mapped = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED || ::madvise(mapped, 4096, MADV_DONTFORK) != 0) ::_exit(1);
    ::close(fd);
  }

  void Tell() const {
    if (::write(from_child_[1], "x", 1) != 1) ::_exit(1);
  }
  // Returns false if the child ended instead.
  bool WaitUntilTold() {
    char byte = 0;
    ::close(std::exchange(from_child_[1], -1));
    return ::read(from_child_[0], &byte, 1) == 1;
  }
  void Kill() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  bool IsHeld() const { return IsBeingWritten(fd_.get()); }

  testing::TempDir directory_;
  std::filesystem::path path_ = directory_.path() / "a.run";
  std::optional<testing::RunFileWriter> file_;
  UniqueFd fd_;
  int to_child_[2] = {-1, -1};
  int from_child_[2] = {-1, -1};
  pid_t child_ = -1;
};

TEST_F(LivenessTest, MappingKeepsTheLockOfAClosedDescriptorUntilTheProcessIsKilled) {
  EXPECT_FALSE(IsHeld());
  Start([this] { Tell(); });
  ASSERT_TRUE(WaitUntilTold());
  EXPECT_TRUE(IsHeld());
  Kill();
  EXPECT_FALSE(IsHeld());
}

TEST_F(LivenessTest, ClosingEveryDescriptorDoesNotEndTheRun) {
  Start([this] {
    for (int fd = 3; fd < 1024; ++fd) {
      if (fd != from_child_[1]) ::close(fd);
    }
    // This would release a POSIX lock.
    ::close(::open(path_.c_str(), O_RDWR));
    Tell();
  });
  ASSERT_TRUE(WaitUntilTold());
  EXPECT_TRUE(IsHeld());
}

TEST_F(LivenessTest, ExecEndsTheRunThoughTheProcessLivesOn) {
  Start([this] {
    Tell();
    ::dup2(to_child_[0], 0);
    ::dup2(from_child_[1], 1);
    ::execl("/bin/cat", "cat", nullptr);
    ::_exit(1);
  });
  ASSERT_TRUE(WaitUntilTold());
  ASSERT_EQ(::write(to_child_[1], "y", 1), 1);
  ASSERT_TRUE(WaitUntilTold()) << "cat copies the byte: it is another program now";
  EXPECT_FALSE(IsHeld());
  EXPECT_EQ(::waitpid(child_, nullptr, WNOHANG), 0) << "and it still runs";
}

TEST_F(LivenessTest, ForkedChildThatOutlivesItsParentDoesNotHoldTheFile) {
  Start([this] {
    const pid_t grandchild = ::fork();
    if (grandchild == 0) {
      ::alarm(60);
      Tell();
      char byte = 0;
      if (::read(to_child_[0], &byte, 1) == 1) Tell();
      ::_exit(0);
    }
  });
  ASSERT_TRUE(WaitUntilTold());
  EXPECT_TRUE(IsHeld());
  Kill();
  EXPECT_FALSE(IsHeld());
  ASSERT_EQ(::write(to_child_[1], "y", 1), 1);
  EXPECT_TRUE(WaitUntilTold()) << "the grandchild was alive all the time";
}

TEST_F(LivenessTest, LockOfAProcessCountsToo) {
  child_ = ::fork();
  ASSERT_GE(child_, 0);
  if (child_ == 0) {
    ::alarm(60);
    const int fd = ::open(path_.c_str(), O_RDWR);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(fd, F_SETLK, &lock) != 0) ::_exit(1);
    Tell();
    for (;;) ::pause();
  }
  ASSERT_TRUE(WaitUntilTold());
  EXPECT_TRUE(IsHeld());
  Kill();
  EXPECT_FALSE(IsHeld());
}

TEST_F(LivenessTest, DoubtMeansThatItIsBeingWritten) { EXPECT_TRUE(IsBeingWritten(-1)); }

}  // namespace
}  // namespace fieldcost::runs

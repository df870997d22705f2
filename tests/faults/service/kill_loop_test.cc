// A real fieldcost-aggregator is killed at random moments while agents send to it over HTTPS, while
// it starts, publishes or writes a checkpoint, and is restarted, many times. Then everything that
// was acknowledged must be stored exactly once, bit for bit. See ../README.md.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <iostream>

#include "tests/faults/service/service.h"

namespace fieldcost::faults {
namespace {

constexpr unsigned kAgents = 4;
constexpr int kShortCycles = 25;
constexpr int kLongCycles = 150;  // both with and without probation: 300
// Starting involves more file operations in the store than this.
constexpr unsigned kEventsOfAStart = 40;

// File system events in a directory, caused by any process.
class DirectoryEvents {
 public:
  explicit DirectoryEvents(const std::filesystem::path& directory)
      : fd_(::inotify_init1(IN_CLOEXEC)),
        watch_(::inotify_add_watch(fd_, directory.c_str(), IN_ALL_EVENTS)) {}
  DirectoryEvents(const DirectoryEvents&) = delete;
  DirectoryEvents& operator=(const DirectoryEvents&) = delete;
  ~DirectoryEvents() { ::close(fd_); }

  bool watching() const { return watch_ >= 0; }  // false if the directory does not exist
  // Waits for `count` events; returns false if one takes too long.
  bool Wait(unsigned count) const {
    for (unsigned seen = 0; seen < count;) {
      pollfd waiting{.fd = fd_, .events = POLLIN, .revents = 0};
      alignas(inotify_event) std::array<char, 64 * 1024> buffer;
      if (::poll(&waiting, 1, kLongestWaitMs) <= 0) return false;
      const ssize_t size = ::read(fd_, buffer.data(), buffer.size());
      for (ssize_t at = 0; at < size; ++seen) {
        inotify_event event;
        std::memcpy(&event, buffer.data() + at, sizeof event);
        at += static_cast<ssize_t>(sizeof event + event.len);
      }
    }
    return true;
  }

 private:
  static constexpr int kLongestWaitMs = 30'000;
  int fd_;
  int watch_;
};

class KillLoopTest : public ::testing::TestWithParam<unsigned> {
 protected:
  // Starts the server once and kills it.
  void RunAndKill(Random& random, Fleet& fleet) {
    const DirectoryEvents events(service_.data_dir() / "store");
    service_.Start();
    if (events.watching() && random() % 4 == 0) {  // while it starts, at a random file event
      if (!events.Wait(1 + static_cast<unsigned>(random() % kEventsOfAStart)))
        ADD_FAILURE() << "it starts without files";
      return Kill();
    }
    const std::string url = service_.Url();
    ASSERT_FALSE(url.empty()) << service_.process().Wait().output;
    std::atomic<std::uint64_t> answers{0};
    const std::uint64_t last = 1 + random() % 60;
    const std::uint64_t publish_at = random() % 2 == 0 ? 1 + random() % last : 0;
    const std::atomic<bool> never{false};
    const std::string trouble = fleet.Work(service_.Address(url), 1'000, never, [&] {
      const std::uint64_t count = ++answers;
      if (count == publish_at) service_.process().Signal(SIGUSR1);
      if (count == last) service_.process().Signal(SIGKILL);
    });
    ASSERT_EQ(trouble, "");
    Kill();
  }

  void Kill() {
    service_.process().Signal(SIGKILL);
    const testing::ProcessResult result = service_.process().Wait();
    ASSERT_EQ(result.signal, SIGKILL) << result.output;
  }

  Service service_;
};

TEST_P(KillLoopTest, EverythingAcknowledgedIsStoredOnceHoweverOftenItIsKilled) {
  Random random(Seed() + GetParam());
  service_.Configure(service_.directory() / "data", GetParam());
  Fleet fleet(kAgents, random());
  const int cycles = LongForm() ? kLongCycles : kShortCycles;
  for (int cycle = 1; cycle <= cycles; ++cycle) {
    SCOPED_TRACE("cycle " + std::to_string(cycle));
    ASSERT_NO_FATAL_FAILURE(RunAndKill(random, fleet));
  }
  ASSERT_NO_FATAL_FAILURE(service_.ExpectExactSums(fleet));
  EXPECT_GT(fleet.withdrawn(), 0U);
  std::cout << cycles << " kills, " << fleet.batches() << " batches and " << fleet.withdrawn()
            << " withdrawn\n";
}

INSTANTIATE_TEST_SUITE_P(Probation, KillLoopTest, ::testing::Values(0U, 3U),
                         [](const auto& test) { return std::to_string(test.param); });

}  // namespace
}  // namespace fieldcost::faults

// A real fieldcost-aggregator on a small file system that its agents fill. Requires root, to create
// a mount namespace. See ../README.md.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "tests/faults/service/service.h"

namespace fieldcost::faults {
namespace {

constexpr unsigned kAgents = 4;
constexpr int kShortRounds = 4;
constexpr int kLongRounds = 40;
constexpr unsigned kMib = 1024 * 1024;

// A small file system visible only to this process and its children; it disappears with them.
class SmallDisk {
 public:
  ~SmallDisk() {
    if (mounted_) ::umount2(where_.c_str(), MNT_DETACH);
  }
  // Returns an empty string, or the reason why it cannot be mounted.
  std::string Mount(const std::filesystem::path& where) {
    where_ = where;
    std::filesystem::create_directories(where);
    if (::unshare(CLONE_NEWNS) != 0) return std::string("unshare: ") + std::strerror(errno);
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("small", where.c_str(), "tmpfs", 0, "size=1m") != 0) {
      return std::string("mount: ") + std::strerror(errno);
    }
    mounted_ = true;
    return {};
  }
  void Resize(std::uint64_t bytes) const {
    const std::string size = "size=" + std::to_string(bytes);
    FIELDCOST_CHECK(::mount("small", where_.c_str(), "tmpfs", MS_REMOUNT, size.c_str()) == 0);
  }
  std::uint64_t Used() const {
    const auto space = std::filesystem::space(where_);
    return space.capacity - space.free;
  }

 private:
  std::filesystem::path where_;
  bool mounted_ = false;
};

class DiskFullTest : public ::testing::Test {
 protected:
  // Runs until the disk is full; the server must report this and exit.
  void FillUp(Fleet& fleet, Random& random) {
    disk_.Resize(disk_.Used() + 64 * 1024 + random() % kMib);
    service_.Start();
    const std::string url = service_.Url();
    if (!url.empty()) {
      const std::atomic<bool> never{false};
      ASSERT_EQ(fleet.Work(service_.Address(url), 100'000, never, [] {}), "");
    }
    const testing::ProcessResult ended = service_.process().Wait();
    ASSERT_EQ(ended.signal, 0) << fleet.last_refusal() << "\n" << ended.output;
    ASSERT_GT(ended.exit_status, 0) << ended.output;
  }

  void ExpectEverythingThere(Fleet& fleet) {
    disk_.Resize(disk_.Used() + 256 * kMib);
    ASSERT_NO_FATAL_FAILURE(service_.ExpectExactSums(fleet));
  }

  Service service_;
  SmallDisk disk_;
};

TEST_F(DiskFullTest, ReportsItShutsDownAndLosesNothingAcknowledged) {
  const std::string problem = disk_.Mount(service_.directory() / "disk");
  if (!problem.empty()) GTEST_SKIP() << "no file system of our own (" << problem << ")";
  Random random(Seed());
  service_.Configure(service_.directory() / "disk" / "data", 0);
  Fleet fleet(kAgents, random());
  const int rounds = LongForm() ? kLongRounds : kShortRounds;
  for (int round = 1; round <= rounds; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    ASSERT_NO_FATAL_FAILURE(FillUp(fleet, random));
    ASSERT_NO_FATAL_FAILURE(ExpectEverythingThere(fleet));
  }
  EXPECT_GT(fleet.unavailable(), 0U) << "no request got 503";
  std::cout << rounds << " full disks, " << fleet.batches() << " batches, " << fleet.unavailable()
            << " times 503\n";
}

}  // namespace
}  // namespace fieldcost::faults

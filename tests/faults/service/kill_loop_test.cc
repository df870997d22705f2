// A real fieldcost-aggregator is killed at random moments, while agents send to it over HTTPS,
// while it starts, publishes or makes a checkpoint, and is started again, many times. Then
// everything that was acknowledged is stored once, bit for bit. README.md.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <thread>

#include "tests/faults/service/service.h"

namespace fieldcost::faults {
namespace {

constexpr unsigned kAgents = 4;
constexpr int kShortCycles = 25;
constexpr int kLongCycles = 150;  // with and without probation: 300
constexpr std::chrono::microseconds kLongestStart{200'000};

class KillLoopTest : public ::testing::TestWithParam<unsigned> {
 protected:
  // One start of the server, and its end.
  void RunAndKill(Random& random, Fleet& fleet) {
    service_.Start();
    if (random() % 4 == 0) {  // in the start: the moment is the random thing
      std::this_thread::sleep_for(std::chrono::microseconds(random() % kLongestStart.count()));
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

  void ExpectExactSums(Fleet& fleet) {
    service_.Start();
    const std::string url = service_.Url();
    ASSERT_FALSE(url.empty()) << service_.process().Wait().output;
    ASSERT_EQ(fleet.Finish(service_.Address(url)), "");
    ASSERT_EQ(fleet.SendAgain(service_.Address(url)), "");
    service_.process().Signal(SIGTERM);
    const testing::ProcessResult ended = service_.process().Wait();
    ASSERT_EQ(ended.exit_status, 0) << ended.output;
    const testing::ProcessResult verified = testing::RunProcess(service_.Command("verify"));
    ASSERT_EQ(verified.exit_status, 0) << verified.output << verified.errors;
    std::string trouble;
    const Sums rows = StoredRows(service_.data_dir(), fleet.batches(), trouble);
    ASSERT_EQ(trouble, "");
    ASSERT_EQ(rows, fleet.Expected());
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
  ASSERT_NO_FATAL_FAILURE(ExpectExactSums(fleet));
  EXPECT_GT(fleet.withdrawn(), 0U);
  std::cout << cycles << " kills, " << fleet.batches() << " batches and " << fleet.withdrawn()
            << " withdrawn\n";
}

INSTANTIATE_TEST_SUITE_P(Probation, KillLoopTest, ::testing::Values(0U, 3U),
                         [](const auto& test) { return std::to_string(test.param); });

}  // namespace
}  // namespace fieldcost::faults

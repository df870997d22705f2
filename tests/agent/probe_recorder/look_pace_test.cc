#include "agent/probe_recorder/look_pace.h"

#include <gtest/gtest.h>

#include "agent/probe_recorder/cpu_wait.h"
#include "common/shm/probe_file.h"

namespace fieldcost::probe {
namespace {

using std::chrono::milliseconds;

TEST(LookPaceTest, ReadsAnIdleProgramOnceASecond) {
  LookPace pace;
  EXPECT_EQ(pace.wait(), LookPace::kLeast);
  milliseconds all{0};
  int looks = 0;
  for (; pace.After(0) < LookPace::kMost; ++looks) all += pace.wait();
  EXPECT_LT(looks, 9);
  EXPECT_EQ(pace.After(0), LookPace::kMost);
}

// A thread must write far less between two looks than its ring can hold.
TEST(LookPaceTest, ReadsABusyRingBeforeAQuarterIsUsed) {
  for (const std::uint64_t hits_per_second : {12'000, 40'000, 100'000, 200'000}) {
    LookPace pace;
    while (pace.wait() < LookPace::kMost) pace.After(0);
    const auto written = [&] {
      return hits_per_second * sizeof(shm::ProbeRecord) *
             static_cast<std::uint64_t>(pace.wait().count()) / 1000;
    };
    // The first second of a burst fits into the area; from the second look on, the ring suffices.
    EXPECT_LE(written(), shm::kProbeRingBytes + shm::kProbeAreaBytes);
    pace.After(written());
    for (int look = 0; look < 20; ++look) {
      EXPECT_LE(written(), shm::kProbeRingBytes / 4) << hits_per_second;
      pace.After(written());
    }
  }
}

TEST(LookPaceTest, AnImpossibleNumberOfBytesIsNotBelieved) {
  LookPace pace;
  EXPECT_EQ(pace.After(~std::uint64_t{0}), LookPace::kLeast);
}

TEST(CpuWaitTest, ReadsTheKernelsTexts) {
  const auto wait = ParseCpuWait("953237 3664037 2\n");
  ASSERT_TRUE(wait.has_value());
  EXPECT_EQ(wait->waited_ns, 3664037U);
  EXPECT_EQ(wait->observed_ns, 953237U + 3664037U) << "time asleep does not count";
  for (const char* const text :
       {"", "1", "1 ", "a b c", "1 -2 3", "0 0 0", "18446744073709551615 1 1"}) {
    EXPECT_FALSE(ParseCpuWait(text).has_value()) << text;
  }
  EXPECT_TRUE(IsZombie("17 (a) b) Z 1 17"));
  EXPECT_FALSE(IsZombie("17 (Z) S 1 17"));
  EXPECT_FALSE(IsZombie(""));
}

}  // namespace
}  // namespace fieldcost::probe

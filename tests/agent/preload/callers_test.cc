#include <algorithm>
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "tests/agent/preload/unnoticed.h"

// Functions of public libraries that inspect their caller's frame, leave it, or return to it twice:
// even if everything may be picked, the program sees its own stack.

namespace fieldcost::testing {
namespace {

class CallersTest : public UnnoticedTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(CallersTest, SeeTheSameStackWithEverythingPicked) {
  const std::string program = kVictims + "unwinders";
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "built only where libunwind.so.8 is";
  const ProcessResult plain =
      ExpectUnnoticed({program, GetParam()}, "libunwind.so.8!*,libc.so.6!*,libgcc_s.so.1!*");
  EXPECT_EQ(plain.exit_status, 0);
  EXPECT_THAT(plain.output, ::testing::EndsWith("outer goes on\n"));
  EXPECT_GT(Measurements("puts"), 0U) << "it was not measured";
}

INSTANTIATE_TEST_SUITE_P(Ways, CallersTest,
                         ::testing::Values("cursor", "libunwind", "libc", "libgcc", "as-libgcc",
                                           "return-twice", "return-twice-with-libc", "resume",
                                           "share-memory", "clone", "jump"),
                         [](const auto& way) {
                           std::string name = way.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// A conservative garbage collector must find values that a caller keeps in registers. It would not
// during a measured call, so such programs are not measured.
TEST_F(UnnoticedTest, ACollectorFindsWhatIsInRegisters) {
  const std::string program = kVictims + "collected";
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "built only where libgc.so.1 is";
  EXPECT_EQ(RunProcess({.arguments = {program, "drop"}}).output, "100 collected while held\n");
  for (const char* const pick : {"*!*", "libgc.so.1!*"}) {
    EXPECT_EQ(ExpectUnnoticed({program}, pick).output, "0 collected while held\n");
  }
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kCollector), 2U);
}

TEST_F(UnnoticedTest, StopsMeasuringProgramsThatLoadACollector) {
  const std::string program = kVictims + "embed";
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "built only where libpython 3.11 is";
  const std::string script =
      "import ctypes\nstrlen = ctypes.CDLL('libc.so.6').strlen\n"
      "before = sum(strlen(b'four') for i in range(100))\n"
      "brought = ctypes.CDLL('libgc.so.1').GC_init is not None\n"
      "print(before + sum(strlen(b'four') for i in range(100)), brought)\n";
  const ProcessResult plain = ExpectUnnoticed({program, "-c", script}, "libc.so.6!m*");
  if (plain.exit_status != 0) GTEST_SKIP() << "libgc.so.1 is not here: " << plain.errors;
  EXPECT_EQ(plain.output, "800 True\n");
  EXPECT_EQ(SkippedRuns(state_dir_.path(), shm::Skip::kCollector), 1U);
  EXPECT_GT(OnlyRun().header.pick_count, 0U) << "it was not measured before";
  EXPECT_EQ(OnlyRun().header.attached, 0U);
}

}  // namespace
}  // namespace fieldcost::testing

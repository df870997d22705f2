#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "agent/idle/bpf_program.h"
#include "tests/agent/idle/recorder.h"

namespace fieldcost::idle_agent {
namespace {

using fieldcost::testing::ProcessResult;
using fieldcost::testing::RunProcess;
using idle::testing::RecordedIdle;
using testing::kRecorder;
using testing::Share;
using testing::Victim;

class BpfModeTest : public testing::RecorderTest,
                    public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    const auto loaded = BpfProgram::Load({}, [](std::span<const std::uint8_t>) {});
    if (!loaded) GTEST_SKIP() << "no programs in the kernel: " << loaded.error().message;
  }
  ProcessResult RecordBpf(const Words& more) { return Record("bpf", more); }
  static IsEnough Explains(std::uint64_t ns) {
    return [ns](const RecordedIdle& recorded) { return recorded.Sum(idle::kToIdle) >= ns; };
  }
};

TEST_P(BpfModeTest, AConvoyIsItsLockAndTheHoldersSleep) {
  const auto recorded = RecordUntil(Explains(350'000'000), [&](const Try& next) {
    return RecordBpf({"--", Victim(GetParam()), "--cpu", next.cpu, "--rounds", next.Rounds(100)});
  });
  ASSERT_EQ(result_.exit_status, 0) << result_.errors;
  EXPECT_NE(result_.output.find("interrupted 0"), std::string::npos) << result_.output;
  if (!recorded) GTEST_SKIP() << WhyNever();
  const auto share = [&](const char* metric, const std::vector<std::string>& functions) {
    return Share(recorded->Sum(metric, functions), recorded->Sum(metric));
  };
  // At least 99 on an idle machine (tests/bench); here other processes may run in between.
  EXPECT_GE(share(idle::kToIdle, {"Consume", "WaitForLock", "[lock]"}), 95);
  EXPECT_GE(share(idle::kPairs, {"WaitForLock", "[until]", "HoldAndSleep", "[sleep]"}), 90);
  EXPECT_GT(share(idle::kPairs, {"HoldAndSleep", "[woken by]", "[interrupt]"}), 0);
}

INSTANTIATE_TEST_SUITE_P(Frames, BpfModeTest, ::testing::Values("idle_convoy", "idle_convoy_fp"),
                         [](const auto& test) { return std::string(test.param); });

class BpfTest : public BpfModeTest {};

INSTANTIATE_TEST_SUITE_P(Once, BpfTest, ::testing::Values(""),
                         [](const auto&) { return "always"; });

TEST_P(BpfTest, ReportsAllIdleTimeToTheNanosecond) {
  const ProcessResult result =
      RecordBpf({"--", Victim("idle_convoy"), "--rounds", "50", "--spread"});
  ASSERT_EQ(result.exit_status, 0) << result.errors;
  const RecordedIdle recorded(file_);
  EXPECT_EQ(recorded.Sum(idle::kCpuIdle), recorded.Count("idle time, ns"));
  std::uint64_t explained = 0;
  recorded.ForEach(idle::kCpuIdle, [&](const idle::testing::Frames& frames, std::uint64_t value) {
    const auto why = idle::WhyOf(frames.at(1).function);
    ASSERT_TRUE(why) << frames.at(1).function;
    if (HasStack(*why)) explained += value;
  });
  EXPECT_EQ(recorded.Sum(idle::kToIdle), explained);
  EXPECT_EQ(recorded.Sum(idle::kPairs), explained);
}

TEST_P(BpfTest, IdleTimeMatchesTheKernels) {
  const auto recorded =
      RecordUntil([](const RecordedIdle& found) { return found.Sum(idle::kStatIdle) != 0; },
                  [&](const Try&) {
                    return RecordBpf({"--for", "2000000000", "--all"});
                  });
  ASSERT_EQ(result_.exit_status, 0) << result_.errors;
  if (!recorded) GTEST_SKIP() << WhyNever();
  recorded->ForEach(idle::kStatIdle, [&](const idle::testing::Frames& frames, std::uint64_t stat) {
    const auto told = recorded->Sum(idle::kCpuIdle, {frames.at(0).function});
    EXPECT_NEAR(static_cast<double>(told), static_cast<double>(stat),
                0.02 * static_cast<double>(stat) + 40e6)
        << frames.at(0).function;
  });
}

TEST_P(BpfTest, ProcessesThatAreStartedAreMonitored) {
  const auto recorded = RecordUntil(Explains(200'000'000), [&](const Try& next) {
    return RecordBpf({"--", "/bin/sh", "-c",
                      "sleep 0.2; " + Victim("idle_convoy") + " --rounds " + next.Rounds(20) +
                          " --cpu " + next.cpu});
  });
  ASSERT_EQ(result_.exit_status, 0) << result_.errors;
  if (!recorded) GTEST_SKIP() << WhyNever();
  EXPECT_GT(recorded->Sum(idle::kToIdle, {"[lock]"}) + recorded->Sum(idle::kFromIdle, {"[lock]"}),
            0U);
  EXPECT_GT(recorded->Sum(idle::kToIdle, {"[sleep]"}) + recorded->Sum(idle::kToIdle, {"[child]"}),
            0U);
}

TEST_P(BpfTest, TheCommandsStatusIsThatOfTheRecorder) {
  EXPECT_EQ(RecordBpf({"--", "/bin/sh", "-c", "exit 3"}).exit_status, 3);
  EXPECT_EQ(RecordBpf({"--", "/bin/sh", "-c", "kill -9 $$"}).exit_status, 128 + 9);
  const ProcessResult none = RecordBpf({"--", "/nonexistent/program"});
  EXPECT_NE(none.exit_status, 0);
  EXPECT_NE(none.errors.find("/nonexistent/program"), std::string::npos);
}

TEST_P(BpfTest, AProcessThatIsGoneIsAnError) {
  const ProcessResult result = RecordBpf({"--pid", "4194304"});
  EXPECT_NE(result.exit_status, 0);
  EXPECT_NE(result.errors.find("4194304"), std::string::npos) << result.errors;
}

TEST_P(BpfTest, ReportsAKernelWithoutTypeInformation) {
  const std::string hidden = std::string("mount -t tmpfs none /sys/kernel/btf && exec ") +
                             kRecorder + " --output " + file_;
  const ProcessResult asked =
      RunProcess({.arguments = {"unshare", "-m", "sh", "-c", hidden + " --mode bpf -- /bin/true"}});
  EXPECT_EQ(asked.exit_status, 78) << asked.errors;
  EXPECT_NE(asked.errors.find("/sys/kernel/btf/vmlinux"), std::string::npos) << asked.errors;
  const ProcessResult chosen =
      RunProcess({.arguments = {"unshare", "-m", "sh", "-c", hidden + " -- /bin/true"}});
  EXPECT_EQ(chosen.exit_status, 0) << chosen.errors;
  EXPECT_NE(chosen.errors.find("mode unprivileged"), std::string::npos) << chosen.errors;
}

TEST_P(BpfTest, ErrorsNameTheMissingPrivilege) {
  std::filesystem::permissions(directory_.path(), std::filesystem::perms::all);
  const ProcessResult result =
      RunProcess({.arguments = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                                kRecorder, "--output", file_, "--mode", "bpf", "--", "/bin/true"}});
  EXPECT_EQ(result.exit_status, 78) << result.errors;
  EXPECT_NE(result.errors.find("CAP_BPF"), std::string::npos) << result.errors;
}

}  // namespace
}  // namespace fieldcost::idle_agent

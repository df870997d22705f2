// The modes that sample CPUs in ticks: unprivileged, unprivileged~ and literal.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>

#include "agent/idle/conformance/literal_collector.h"
#include "agent/idle/idle_clock.h"
#include "agent/idle/idle_probe.h"
#include "agent/perf/process_threads.h"
#include "tests/agent/idle/recorder.h"

namespace fieldcost::idle_agent {
namespace {

using fieldcost::testing::BackgroundProcess;
using fieldcost::testing::ProcessResult;
using fieldcost::testing::WaitUntil;
using idle::testing::RecordedIdle;
using testing::Share;
using testing::Victim;

// Shorter recordings give no reliable shares.
constexpr std::uint64_t kEnoughNs = 100'000'000;

class SampledModesTest : public testing::RecorderTest {};

// In programs with frame pointers, the frame pointer of a thread that waits in the kernel is
// unavailable, so the callers of the function that called the C library are unknown.
std::string CallerOf(const char* victim) {
  return victim == std::string("idle_convoy_fp") ? tree::kCut : "Consume";
}

struct Way {
  const char* name;
  const char* mode;
  const char* victim;
  bool as_nobody;
};

class ConvoyTest : public SampledModesTest, public ::testing::WithParamInterface<Way> {};

TEST_P(ConvoyTest, AConvoyIsItsLockAndTheHoldersSleep) {
  const Way& way = GetParam();
  if (way.as_nobody && ::geteuid() != 0) GTEST_SKIP() << "only root can become nobody";
  // In that mode, the resuming thread is a guess.
  const auto is_guess = [this] {
    return result_.errors.find("unprivileged~") != std::string::npos;
  };
  const auto known = [](const RecordedIdle& recorded) {
    return recorded.Sum(idle::kFromIdle) -
           recorded.Sum(idle::kFromIdle, {FrameName(idle::Why::kLost)}) -
           recorded.Sum(idle::kFromIdle, {idle::kNobody});
  };
  const auto recorded = RecordUntil(
      [&](const RecordedIdle& found) {
        return found.Sum(idle::kToIdle) >= kEnoughNs && (is_guess() || known(found) >= kEnoughNs);
      },
      [&](const Try& next) {
        return Record(way.mode,
                      {"--", Victim(way.victim), "--cpu", next.cpu, "--rounds", next.Rounds(100),
                       "--hold-us", "10000"},
                      way.as_nobody);
      });
  if (result_.exit_status == 78) GTEST_SKIP() << result_.errors;
  ASSERT_EQ(result_.exit_status, 0) << result_.errors;
  EXPECT_NE(result_.output.find("interrupted 0"), std::string::npos) << result_.output;
  if (!recorded) GTEST_SKIP() << WhyNever();
  EXPECT_GE(Share(recorded->Sum(idle::kToIdle, {CallerOf(way.victim), "WaitForLock", "[lock]"}),
                  recorded->Sum(idle::kToIdle)),
            94);
  if (is_guess()) return;
  EXPECT_GE(Share(recorded->Sum(idle::kFromIdle, {"HoldAndSleep", "[sleep]"}), known(*recorded)),
            90);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, ConvoyTest,
    ::testing::Values(Way{"unprivileged", "unprivileged", "idle_convoy", false},
                      Way{"with_frame_pointers", "unprivileged", "idle_convoy_fp", false},
                      Way{"as_nobody", "unprivileged", "idle_convoy", true},
                      Way{"by_candidates", "unprivileged~", "idle_convoy", false},
                      Way{"by_candidates_as_nobody", "unprivileged~", "idle_convoy", true},
                      Way{"literal", "literal", "idle_convoy", false},
                      Way{"literal_with_frame_pointers", "literal", "idle_convoy_fp", false}),
    [](const auto& test) { return std::string(test.param.name); });

class SumsTest : public SampledModesTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(SumsTest, IdleTimeMatchesTheKernels) {
  const std::vector<std::uint32_t> looked_at = UsableCpus();
  const auto is_looked_at = [&](const idle::testing::Frames& frames) {
    const auto cpu = idle::CpuOf(frames.at(0));
    return cpu && std::ranges::find(looked_at, *cpu) != looked_at.end();
  };
  const auto recorded = RecordUntil(
      [&](const RecordedIdle& found) {
        bool any = false;
        found.ForEach(idle::kStatIdle, [&](const idle::testing::Frames& frames, std::uint64_t) {
          any |= is_looked_at(frames);
        });
        return any;
      },
      [&](const Try&) {
        return Record(GetParam(), {"--", "/bin/sleep", "2"});
      });
  if (result_.exit_status == 78) GTEST_SKIP() << result_.errors;
  ASSERT_EQ(result_.exit_status, 0) << result_.errors;
  if (!recorded) GTEST_SKIP() << WhyNever();
  recorded->ForEach(idle::kStatIdle, [&](const idle::testing::Frames& frames, std::uint64_t stat) {
    ASSERT_TRUE(idle::CpuOf(frames.at(0)));
    if (!is_looked_at(frames)) return;
    const auto told = recorded->Sum(idle::kCpuIdle, {frames.at(0).function});
    EXPECT_NEAR(static_cast<double>(told), static_cast<double>(stat),
                0.05 * static_cast<double>(stat) + 20e6)
        << frames.at(0).function;
  });
}

TEST_P(SumsTest, AllSumsAgree) {
  const ProcessResult result =
      Record(GetParam(), {"--", Victim("idle_convoy"), "--rounds", "50", "--spread"});
  if (result.exit_status == 78) GTEST_SKIP() << result.errors;
  ASSERT_EQ(result.exit_status, 0) << result.errors;
  const RecordedIdle recorded(file_);
  std::uint64_t explained = 0;
  recorded.ForEach(idle::kCpuIdle, [&](const idle::testing::Frames& frames, std::uint64_t value) {
    const auto why = idle::WhyOf(frames.at(1).function);
    ASSERT_TRUE(why) << frames.at(1).function;
    if (HasStack(*why)) explained += value;
  });
  EXPECT_EQ(recorded.Sum(idle::kToIdle), explained);
  EXPECT_EQ(recorded.Sum(idle::kPairs), explained);
  // Each tick counts as one tick length.
  EXPECT_EQ(recorded.Sum(idle::kCpuIdle), recorded.Count("idle ticks") * 2'003'003);
}

TEST_P(SumsTest, AProcessThatIsGoneIsAnError) {
  const ProcessResult result = Record(GetParam(), {"--pid", "4194304"});
  EXPECT_NE(result.exit_status, 0);
  EXPECT_NE(result.errors.find("4194304"), std::string::npos) << result.errors;
}

TEST_P(SumsTest, OfAllProcessesOnlyModeBpfCanTell) {
  const ProcessResult result = Record(GetParam(), {"--for", "1000000", "--all"});
  EXPECT_EQ(result.exit_status, 78) << result.errors;
  EXPECT_NE(result.errors.find("bpf"), std::string::npos) << result.errors;
}

INSTANTIATE_TEST_SUITE_P(Modes, SumsTest,
                         ::testing::Values("unprivileged", "unprivileged~", "literal"),
                         [](const auto& test) {
                           const std::string mode = test.param;
                           return mode == "unprivileged~" ? "candidates" : mode;
                         });

TEST_F(SampledModesTest, NamesTheMissingCapability) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become nobody";
  const ProcessResult result = Record("literal", {"--", "/bin/true"}, true);
  EXPECT_EQ(result.exit_status, 78) << result.errors;
  EXPECT_NE(result.errors.find("CAP_SYS_NICE"), std::string::npos) << result.errors;
}

// The CPUs that each thread may use.
std::map<pid_t, std::string> MasksOf(pid_t pid) {
  std::map<pid_t, std::string> masks;
  for (const pid_t tid : perf::ThreadsOf(pid)) {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    ::sched_getaffinity(tid, sizeof mask, &mask);
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &mask)) masks[tid] += std::to_string(cpu) + " ";
    }
  }
  return masks;
}

// Runs on all CPUs until it is killed.
class MasksTest : public SampledModesTest {
 protected:
  void SetUp() override {
    // Only by these two can a recorder find an idle CPU on a busy machine.
    const auto by_states = IdleClock::Open(0, {.only = IdleClock::Source::kStates});
    const auto by_run_queue = IdleClock::Open(0, {.only = IdleClock::Source::kRunQueue});
    if (!by_states && !by_run_queue) GTEST_SKIP() << by_run_queue.error().message;
    ASSERT_TRUE(victim_.WaitForLine("cpu"));
  }
  // Waits until all threads exist.
  std::map<pid_t, std::string> Masks() {
    EXPECT_TRUE(WaitUntil([&] { return perf::ThreadsOf(victim_.pid()).size() >= 5; }));
    return MasksOf(victim_.pid());
  }
  BackgroundProcess victim_{
      {.arguments = {Victim("idle_convoy"), "--spread", "--rounds", "1000000"}}};
};

TEST_F(MasksTest, MasksAreAsTheyWere) {
  const auto before = Masks();
  const auto recorded = RecordUntil(
      [&](const RecordedIdle& found) {
        EXPECT_EQ(MasksOf(victim_.pid()), before);
        return found.Count("samples") != 0;
      },
      [&](const Try&) {
        return Record("literal", {"--for", "1000000000", "--pid", std::to_string(victim_.pid())});
      });
  if (result_.exit_status == 78) GTEST_SKIP() << result_.errors;
  ASSERT_EQ(result_.exit_status, 0) << result_.errors;
  if (!recorded) GTEST_SKIP() << WhyNever();
}

// Records until a thread is pinned to its CPU, then kills the recorder. Exits with 0 if no thread
// ever is.
[[noreturn]] void RecordAndDie(pid_t pid, const std::filesystem::path& directory,
                               const std::string& file) {
  auto writer = IdleWriter::Create(
      file, {.about = {.mode = idle::Mode::kLiteral, .tick_ns = 2'003'003}, .sampled = true});
  if (!writer || !writer->BeginRun("")) std::_Exit(1);
  const auto collector = LiteralCollector::Create(
      {.kind = Target::Kind::kRunning, .pid = pid}, *writer,
      {.journal_directory = directory, .while_pinned = [] { ::kill(::getpid(), SIGKILL); }});
  if (!collector) std::_Exit(collector.error().code == ErrorCode::kPermissionDenied ? 78 : 1);
  const testing::NoIdleCpu no_idle_cpu;
  bool has_failed = false;
  WaitUntil([&] {
    has_failed = !(*collector)->Look(std::chrono::milliseconds(20)).has_value();
    return has_failed || no_idle_cpu.IsProven();
  });
  std::_Exit(has_failed ? 1 : 0);
}

TEST_F(MasksTest, MasksOfOneThatIsKilledAreRestoredByTheNext) {
  const auto before = Masks();
  const pid_t child = ::fork();
  if (child == 0) RecordAndDie(victim_.pid(), directory_.path(), file_);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status)) {
    // With one CPU all threads are pinned anyway.
    ASSERT_TRUE(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 78);
    GTEST_SKIP() << (WEXITSTATUS(status) == 0 ? WhyNever() : "no real-time priority");
  }
  ASSERT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_NE(MasksOf(victim_.pid()), before);
  EXPECT_GE(RestoreMasks(directory_.path()).value(), 1U);  // up to one per CPU
  EXPECT_EQ(MasksOf(victim_.pid()), before);
}

}  // namespace
}  // namespace fieldcost::idle_agent

#include "common/idle/idle_schema.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <set>
#include <string>

#include "common/idle/pair_path.h"

namespace fieldcost::idle {
namespace {

TEST(IdleSchemaTest, EachReasonHasAFrameNameOfItsOwn) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < kWhys; ++i) {
    const Why why = static_cast<Why>(i);
    EXPECT_TRUE(names.insert(FrameName(why)).second) << FrameName(why);
    EXPECT_EQ(WhyOf(FrameName(why)), why);
  }
  EXPECT_EQ(WhyOf("[kernel]"), std::nullopt);
  EXPECT_EQ(WhyOf(""), std::nullopt);
}

TEST(IdleSchemaTest, SystemCallsDetermineTheReason) {
  EXPECT_EQ(WhyOfSystemCall(SYS_futex), Why::kLock);
  EXPECT_EQ(WhyOfSystemCall(SYS_epoll_wait), Why::kEvents);
  EXPECT_EQ(WhyOfSystemCall(SYS_clock_nanosleep), Why::kSleep);
  EXPECT_EQ(WhyOfSystemCall(SYS_fsync), Why::kIo);
  EXPECT_EQ(WhyOfSystemCall(SYS_wait4), Why::kChild);
  EXPECT_EQ(WhyOfSystemCall(SYS_pause), Why::kSignal);
  EXPECT_EQ(WhyOfSystemCall(SYS_exit_group), Why::kEnded);
  EXPECT_EQ(WhyOfSystemCall(SYS_sched_yield), Why::kOtherCall);
  EXPECT_EQ(WhyOfSystemCall(INT64_MAX), Why::kOtherCall);
  EXPECT_EQ(WhyOfSystemCall(-1), Why::kFault);
}

TEST(IdleSchemaTest, ItsMetricsAreKnown) {
  for (const char* const name :
       {kToIdle, kToIdleTicks, kFromIdle, kFromIdleTicks, kPairs, kPairTicks, kCpuIdle, kStatIdle})
    EXPECT_TRUE(IsIdleMetric(name)) << name;
  EXPECT_FALSE(IsIdleMetric("cpu"));
  EXPECT_FALSE(IsIdleMetric(""));
}

TEST(IdleSchemaTest, CpusHaveFrames) {
  EXPECT_EQ(CpuOf(CpuFrame(0)), 0U);
  EXPECT_EQ(CpuOf(CpuFrame(UINT32_MAX)), UINT32_MAX);
  EXPECT_EQ(CpuFrame(12).function, "[CPU 12]");
  for (const char* const none : {"[CPU ]", "[CPU -1]", "[CPU 4294967296]", "[CPU 1", "CPU 1]"})
    EXPECT_EQ(CpuOf(tree::SpecialFrame(none)), std::nullopt) << none;
  EXPECT_EQ(CpuOf({.module = "a.so", .function = "[CPU 1]"}), std::nullopt) << "a function";
}

TEST(IdleSchemaTest, HowItWasRecordedGoesThroughAStreamsName) {
  const About about{.mode = Mode::kCandidates, .tick_ns = 2'003'003, .why = "paranoid is 3"};
  EXPECT_EQ(EncodeAbout(about), "mode=unprivileged~ tick_ns=2003003 why=paranoid is 3");
  EXPECT_EQ(ParseAbout(EncodeAbout(about)), about);
  const About silent{.mode = Mode::kLiteral, .tick_ns = 1, .why = ""};
  EXPECT_EQ(ParseAbout(EncodeAbout(silent)), silent);
  for (const char* const none : {"", "mode=bpf", "mode=x tick_ns=1 why=", "mode=bpf tick_ns=x why=",
                                 "mode=bpf tick_ns=1", "samples"})
    EXPECT_EQ(ParseAbout(none), std::nullopt) << none;
}

TEST(IdleSchemaTest, ALongReasonIsCutToWhatAStreamsNameMayBe) {
  recording::Descriptions all;
  ASSERT_TRUE(recording::AddMetric({.name = kCpuIdle}, all));
  About about;
  about.why.assign(1000, '\n');
  const std::string name = EncodeAbout(about);
  EXPECT_TRUE(recording::AddStream(
      {.kind = recording::StreamKind::kIdle, .name = name, .metrics = {0}}, all));
}

class PairPathTest : public testing::Test {
 protected:
  tree::FrameId Function(const std::string& name) {
    return *dictionary_.frames.Intern({.module = "app", .function = name});
  }
  tree::FrameId Special(const std::string& name) {
    return *dictionary_.frames.Intern(tree::SpecialFrame(name));
  }
  void ExpectSame(const PairPath& pair) {
    const auto path = InternPair(pair, dictionary_);
    ASSERT_TRUE(path);
    const PairPath again = SplitPair(dictionary_, *path);
    EXPECT_EQ(again.to, pair.to);
    EXPECT_EQ(again.from, pair.from);
    EXPECT_EQ(again.waker, pair.waker);
  }
  tree::Dictionary dictionary_;
};

TEST_F(PairPathTest, ItsPartsComeBack) {
  const PairPath pair{.to = {Function("main"), Function("wait"), Special("[lock]")},
                      .from = {Function("main"), Function("hold"), Special("[sleep]")},
                      .waker = {Special(kInterrupt)}};
  ExpectSame(pair);
  ExpectSame({.to = pair.to, .from = pair.from, .waker = {}});
  ExpectSame({.to = {Special("[lost]")}, .from = {Special(kNobody)}, .waker = {}});
  ExpectSame({.to = {}, .from = {}, .waker = {}});
}

TEST_F(PairPathTest, FunctionsNamedLikeAMarkAreNotMarks) {
  ExpectSame({.to = {Function(kUntil)}, .from = {Function(kWokenBy)}, .waker = {}});
}

TEST_F(PairPathTest, PathsWithoutAPairAreTheirOwnFirstPart) {
  tree::PathId path = tree::kRootPath;
  const tree::FrameId main = Function("main");
  path = *dictionary_.paths.Intern(path, main);
  const PairPath pair = SplitPair(dictionary_, path);
  EXPECT_EQ(pair.to, std::vector{main});
  EXPECT_TRUE(pair.from.empty());
}

}  // namespace
}  // namespace fieldcost::idle

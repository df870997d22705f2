#include "tools/analysis/idle_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/idle/pair_path.h"
#include "tests/common/idle/idle_recording.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::analysis {
namespace {

using recording::Interval;
using recording::Recording;
using ::testing::ElementsAre;
using testing::IdleRecorder;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kMs = 1'000'000;
constexpr char kTake[] = "app!main;app!Take();libc.so!pthread_mutex_lock;[lock]";
constexpr char kHold[] = "app!main;app!Hold();libc.so!nanosleep;[sleep]";

class IdleViewTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return directory_.path() / "a.fct"; }

  IdleView View(const std::vector<Interval>& parts = {{}}) const {
    const Recording recording = Recording::Open(file()).value();
    return MakeIdleView(recording, parts).value();
  }
  static std::uint64_t Ns(const CpuIdle& cpu, idle::Why why) {
    return cpu.by_why.at(static_cast<std::size_t>(why));
  }
  static std::string Chain(const IdleView& view, const IdlePair& pair) {
    const idle::PairPath parts = idle::SplitPair(*view.dictionary, pair.path);
    std::string chain;
    for (const auto* const part : {&parts.to, &parts.from, &parts.waker}) {
      chain += "<" + DoingText(*view.dictionary, DoingOf(*view.dictionary, *part));
    }
    return chain;
  }

  testing::TempDir directory_;
};

TEST_F(IdleViewTest, TheExampleOfTheSchemaComesOutAsItIsWrittenThere) {
  IdleRecorder recorder(file(), {.mode = idle::Mode::kBpf, .tick_ns = 10 * kMs, .why = "root"});
  recorder.Add({.cpu = 1,
                .from_ns = 8 * kMs,
                .to_ns = 31 * kMs,
                .to = kTake,
                .from = kHold,
                .waker = "[interrupt]"});
  recorder.Close();
  const IdleView view = View();
  EXPECT_EQ(view.about, (idle::About{idle::Mode::kBpf, 10 * kMs, "root"}));
  ASSERT_THAT(view.cpus, SizeIs(1));
  EXPECT_EQ(view.cpus[0].cpu, 1U);
  EXPECT_EQ(view.cpus[0].idle_ns, 23 * kMs);
  EXPECT_EQ(view.cpus[0].explained_ns, 23 * kMs);
  EXPECT_EQ(Ns(view.cpus[0], idle::Why::kLock), 23 * kMs);
  EXPECT_EQ(view.cpus[0].stat_idle_ns, std::nullopt) << "it was not read";
  ASSERT_THAT(view.pairs, SizeIs(1));
  EXPECT_EQ(view.pairs[0].ns, 23 * kMs);
  EXPECT_EQ(view.pairs[0].ticks, 3U);
  EXPECT_EQ(view.pairs[0].periods, 1U);
  EXPECT_THAT(view.pairs[0].lengths, ElementsAre(LengthCount{.slot = 25, .count = 1}));
  EXPECT_EQ(Chain(view, view.pairs[0]), "<lock: app!Take()<sleep: app!Hold()<[interrupt]");
}

TEST_F(IdleViewTest, ChainsNameTheInnermostFunctionOfTheProgramThatHasAName) {
  const std::pair<const char*, const char*> stacks[] = {
      {"app!main;sqlite!Checkpoint();sqlite!+0xab050;libc.so!fsync;[I/O]",
       "I/O: sqlite!Checkpoint()"},
      {"app!main;app!Work();app!+0x12;app!+0x34;libc.so!read;[I/O]", "I/O: app!Work()"},
      {"go!main.main;go!main.load;go!runtime.notesleep;go!runtime.futex.abi0;[lock]",
       "lock: go!main.load"},
      {"node!main;node!node::Worker::Run();node!uv_cond_wait;libc.so!pthread_cond_wait;[lock]",
       "lock: node!node::Worker::Run()"},
      {"app!main;app!Pool::Take();app!std::condition_variable::wait();libc.so!futex;[lock]",
       "lock: app!Pool::Take()"},
      {"rust!rust::take;rust!std::sync::Mutex::lock;rust!std::sys::futex_wait;[lock]",
       "lock: rust!rust::take"},
      // A function of such a library that does work counts as the program's.
      {"app!main;app!std::map<int>::insert(int&&);libc.so!read;[I/O]",
       "I/O: app!std::map<int>::insert(int&&)"},
      // Fallbacks: unnamed code, then the innermost function.
      {"app!+0x12;app!+0x34;libc.so!read;[I/O]", "I/O: app+0x34"},
      {"go!runtime.mstart;go!runtime.mcall;go!runtime.futex.abi0;[lock]",
       "lock: go!runtime.futex.abi0"},
      {"libc.so!start;libc.so!read;[I/O]", "I/O: libc.so!read"}};
  for (const auto& [stack, expected] : stacks) {
    IdleRecorder recorder(file());
    recorder.Add({.from_ns = 0, .to_ns = kMs, .to = stack, .from = kHold});
    recorder.Close();
    const IdleView view = View();
    ASSERT_THAT(view.pairs, SizeIs(1));
    EXPECT_EQ(Chain(view, view.pairs[0]), std::string("<") + expected + "<sleep: app!Hold()<");
  }
}

TEST_F(IdleViewTest, SumsOfAllReasonsAndPairsAreTheIdleTime) {
  IdleRecorder recorder(file());
  std::uint64_t idle = 0;
  std::uint64_t explained = 0;
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    const std::uint64_t ns = 1 + i * i % 9'973;
    const bool is_known = i % 7 != 0;
    recorder.Add({.cpu = static_cast<std::uint32_t>(i % 3),
                  .from_ns = i * kMs,
                  .to_ns = i * kMs + ns,
                  .to = !is_known    ? "[not monitored]"
                        : i % 2 == 0 ? kTake
                                     : "app!main;[events]",
                  .from = i % 5 == 0 ? "[nobody]" : kHold});
    idle += ns;
    if (is_known) explained += ns;
  }
  recorder.Close();
  const IdleView view = View();
  EXPECT_EQ(view.all.idle_ns, idle);
  EXPECT_EQ(view.all.explained_ns, explained);
  EXPECT_EQ(Ns(view.all, idle::Why::kNotMonitored), idle - explained);
  EXPECT_EQ(view.all_pairs.ns, explained);
  ASSERT_THAT(view.cpus, SizeIs(3));
  EXPECT_EQ(view.cpus[0].idle_ns + view.cpus[1].idle_ns + view.cpus[2].idle_ns, idle);
  ASSERT_THAT(view.pairs, SizeIs(4));
  EXPECT_TRUE(std::ranges::is_sorted(view.pairs, std::ranges::greater{}, &IdlePair::ns));
  std::uint64_t ns = 0;
  std::uint64_t periods = 0;
  std::uint64_t lengths = 0;
  for (const IdlePair& pair : view.pairs) {
    ns += pair.ns;
    periods += pair.periods;
    for (const LengthCount& length : pair.lengths) lengths += length.count;
  }
  EXPECT_EQ(ns, explained);
  EXPECT_EQ(periods, 4285U) << "six of seven";
  EXPECT_EQ(lengths, periods);
  EXPECT_EQ(view.all_pairs.periods, periods);
}

TEST_F(IdleViewTest, PartsOfTimeAddUp) {
  IdleRecorder recorder(file());
  recorder.Add({.from_ns = 0, .to_ns = 350 * kMs, .to = kTake, .from = kHold});
  recorder.Add({.from_ns = 400 * kMs, .to_ns = 500 * kMs, .to = kTake, .from = kHold});
  recorder.AddStat(0, 250 * kMs, 240 * kMs);
  recorder.AddStat(0, 500 * kMs, 200 * kMs);
  recorder.Close();
  const Interval first{.from_ns = 0, .to_ns = 300 * kMs};
  const Interval second{.from_ns = 300 * kMs, .to_ns = UINT64_MAX};
  const IdleView one = View({first});
  EXPECT_EQ(one.all.idle_ns, 300 * kMs);
  EXPECT_EQ(one.all_pairs.ns, 300 * kMs);
  EXPECT_EQ(one.all_pairs.periods, 0U) << "none has ended";
  EXPECT_THAT(one.pairs, SizeIs(1));
  EXPECT_EQ(one.all.stat_idle_ns, 240 * kMs);
  const IdleView other = View({second});
  EXPECT_EQ(other.all.idle_ns, 150 * kMs);
  EXPECT_EQ(other.all_pairs.ns, 150 * kMs);
  EXPECT_THAT(other.all_pairs.lengths, SizeIs(2)) << "whole lengths";
  EXPECT_EQ(other.all_pairs.periods, 2U);
  const IdleView both = View({first, second});
  EXPECT_EQ(both.all.idle_ns, View().all.idle_ns);
  EXPECT_EQ(both.all_pairs.ns, View().all_pairs.ns);
  EXPECT_EQ(both.all.stat_idle_ns, 440 * kMs);
}

TEST_F(IdleViewTest, CountsStacksThatTheSchemaDoesNotKnow) {
  IdleRecorder recorder(file());
  recorder.AddCpuIdle("[CPU 0];[lock]", 1, 1);
  recorder.AddCpuIdle("[CPU 0];[pressure]", 2, 10);
  recorder.AddCpuIdle("[CPU 0]", 3, 100);
  recorder.AddCpuIdle("[CPU 0];[lock];app!main", 4, 1'000);
  recorder.AddCpuIdle("app!main;[lock]", 5, 10'000);
  recorder.AddCpuIdle("[CPU x];[sleep]", 6, 100'000);
  recorder.AddCpuIdle("[CPU 0];[lock]", 7, 1'000'000);
  recorder.Close();
  const IdleView view = View();
  EXPECT_EQ(view.all.idle_ns, 1'111'111U);
  EXPECT_EQ(view.no_cpu_ns, 110'000U);
  ASSERT_THAT(view.cpus, SizeIs(1));
  EXPECT_EQ(view.cpus[0].idle_ns, 1'001'111U);
  EXPECT_EQ(view.cpus[0].explained_ns, 1'000'001U);
  EXPECT_EQ(view.cpus[0].by_why.at(kUnknownWhy), 1'110U);
  EXPECT_EQ(WhyText(kUnknownWhy), "unknown");
  EXPECT_THAT(view.pairs, IsEmpty());
}

TEST_F(IdleViewTest, ASumBeyond64BitsIsRefused) {
  IdleRecorder recorder(file());
  recorder.AddCpuIdle("[CPU 0];[lock]", 1, UINT64_MAX - 1);
  recorder.Close();
  EXPECT_EQ(View().all.idle_ns, UINT64_MAX - 1);
  const Recording recording = Recording::Open(file()).value();
  const auto twice = MakeIdleView(recording, std::vector<Interval>{{}, {}});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::kTooLarge);
}

TEST_F(IdleViewTest, AnotherKindOfRecordingIsRefused) {
  tree::Dictionary dictionary;
  auto writer = recording::Writer::Create(file(), dictionary, {}).value();
  const auto metric = writer.AddMetric({.name = idle::kCpuIdle}).value();
  // Neither stream states how it was recorded as idle time.
  ASSERT_TRUE(writer.AddStream({.name = "mode=bpf tick_ns=1 why=", .metrics = {metric}}));
  ASSERT_TRUE(writer.AddStream(
      {.kind = recording::StreamKind::kIdle, .name = "samples", .metrics = {metric}}));
  ASSERT_TRUE(writer.Close());
  const Recording recording = Recording::Open(file()).value();
  EXPECT_EQ(IdleAbout(recording), std::nullopt);
  const auto view = MakeIdleView(recording, std::vector<Interval>{{}});
  ASSERT_FALSE(view);
  EXPECT_EQ(view.error().code, ErrorCode::kInvalidArgument);
}

TEST_F(IdleViewTest, ReadsFlushedDataOfADamagedFile) {
  IdleRecorder recorder(file());
  recorder.Add({.from_ns = 0, .to_ns = 5 * kMs, .to = kTake, .from = kHold});
  ASSERT_TRUE(recorder.writer().Flush());
  const std::uint64_t whole = recorder.writer().size_bytes();
  recorder.Add({.from_ns = 6 * kMs, .to_ns = 8 * kMs, .to = kTake, .from = kHold});
  recorder.Close();
  std::filesystem::resize_file(file(), whole + 11);
  EXPECT_EQ(View().all.idle_ns, 5 * kMs);
  EXPECT_EQ(View().all_pairs.periods, 1U);
}

TEST_F(IdleViewTest, NamesTheInnermostFunctionOfTheProgramItself) {
  IdleRecorder recorder(file());
  recorder.Add({.to_ns = 4,
                .to = "ld-linux-x86-64.so!_start;libc.so!read;[I/O]",
                .from = "[cut];app!f;[kernel];[other]",
                .waker = "app!Unlock()"});
  recorder.Close();
  const IdleView view = View();
  EXPECT_EQ(Chain(view, view.pairs.at(0)), "<I/O: libc.so!read<[other]: app!f<app!Unlock()");
}

}  // namespace
}  // namespace fieldcost::analysis

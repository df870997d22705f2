// Samples a process that is already running.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "tests/agent/trace/recorded.h"
#include "tests/support/wait_until.h"

namespace fieldcost::trace {
namespace {

using fieldcost::testing::WaitUntil;
using testing::NamesOf;
using testing::Recording;
using testing::SumOf;
using testing::Victim;

// A ready `waits input`.
class RunningVictim {
 public:
  explicit RunningVictim(const std::string& program = Victim("waits")) {
    int input[2];
    int output[2];
    FIELDCOST_CHECK(::pipe2(input, O_CLOEXEC) == 0 && ::pipe2(output, O_CLOEXEC) == 0);
    pid_ = ::fork();
    FIELDCOST_CHECK(pid_ >= 0);
    if (pid_ == 0) {
      ::dup2(input[0], 0);
      ::dup2(output[1], 1);
      ::execl(program.c_str(), program.c_str(), "input", nullptr);
      std::_Exit(127);
    }
    ::close(input[0]);
    ::close(output[1]);
    input_ = UniqueFd(input[1]);
    output_ = UniqueFd(output[0]);
    EXPECT_EQ(Says(6), "ready\n");
  }
  ~RunningVictim() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  pid_t pid() const { return pid_; }
  void End() { input_.Reset(); }
  int Reap() {
    int status = -1;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }
  std::string Says(std::size_t most) {
    std::string text(most, '\0');
    const ssize_t got = ::read(output_.get(), text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }

 private:
  pid_t pid_ = -1;
  UniqueFd input_;
  UniqueFd output_;
};

// Samples a process in a steady state until it has at least `enough` samples.
tl::expected<Recording, Error> SampleRunning(pid_t pid, std::size_t enough) {
  Recording recording;
  auto sampler = Sampler::OfRunning(pid, {}, [&](const Sample& sample) { recording.Take(sample); });
  if (!sampler) return tl::unexpected(sampler.error());
  EXPECT_TRUE(WaitUntil([&] {
    EXPECT_TRUE((*sampler)->Wait(std::chrono::seconds(1)));
    return recording.samples.size() >= enough;
  }));
  (*sampler)->Finish();
  recording.modules = (*sampler)->modules();
  return recording;
}

TEST(AttachTest, SamplesARunningProcessAndItsThreadsWithoutChangingIt) {
  RunningVictim victim;
  const auto found = SampleRunning(victim.pid(), 50);
  if (!found) GTEST_SKIP() << found.error().message;
  const Recording& recording = *found;
  symbols::Symbols symbols;
  for (const Sample& sample : recording.samples) {
    EXPECT_NE(sample.tid, victim.pid());
    EXPECT_NE(NamesOf(recording, sample, symbols).find("waits_burn"), std::string::npos);
  }
  std::uint64_t waited = 0;
  for (const Sample& wait : recording.waits) {
    if (wait.tid != victim.pid()) continue;
    EXPECT_NE(NamesOf(recording, wait, symbols).find("waits_for_input < waits_beside_thread"),
              std::string::npos);
    waited += wait.weight_ns;
  }
  // It waited the whole time in which the other thread worked.
  EXPECT_GE(waited, SumOf(recording.samples));
  victim.End();
  EXPECT_EQ(victim.Says(6), "done\n");
  EXPECT_EQ(victim.Reap(), 0);
}

// As with an upgrade under a running program: there is nothing at its path, or another program.
TEST(AttachTest, AReplacedProgramKeepsItsOwnNames) {
  for (const char* replacement : {"", "burn"}) {
    const std::filesystem::path path =
        std::filesystem::path(::testing::TempDir()) / fmt::format("replaced_{}", ::getpid());
    std::filesystem::copy_file(Victim("waits"), path,
                               std::filesystem::copy_options::overwrite_existing);
    RunningVictim victim(path.string());
    std::filesystem::remove(path);
    if (*replacement != '\0') std::filesystem::copy_file(Victim(replacement), path);
    const auto found = SampleRunning(victim.pid(), 20);
    if (!found) GTEST_SKIP() << found.error().message;
    const Recording& recording = *found;
    // Names are read after the process has ended.
    victim.End();
    EXPECT_EQ(victim.Says(6), "done\n");
    EXPECT_EQ(victim.Reap(), 0);
    symbols::Symbols symbols;
    for (const Sample& sample : recording.samples) {
      EXPECT_NE(NamesOf(recording, sample, symbols).find("waits_burn"), std::string::npos)
          << NamesOf(recording, sample, symbols);
    }
    std::filesystem::remove(path);
  }
}

TEST(AttachTest, ItEndsWhenTheProcessDoes) {
  RunningVictim victim;
  Recording recording;
  auto sampler =
      Sampler::OfRunning(victim.pid(), {}, [&](const Sample& sample) { recording.Take(sample); });
  if (!sampler) GTEST_SKIP() << sampler.error().message;
  ASSERT_TRUE(WaitUntil([&] {
    EXPECT_TRUE((*sampler)->Wait(std::chrono::seconds(1)));
    return !recording.samples.empty();
  }));
  victim.End();
  for (;;) {
    const auto more = (*sampler)->Wait(std::chrono::seconds(1));
    ASSERT_TRUE(more.has_value());
    if (!*more) break;
  }
  EXPECT_EQ(victim.Reap(), 0);
}

TEST(AttachTest, TwoMayLookAtOneProcess) {
  RunningVictim victim;
  std::size_t samples[2] = {};
  std::unique_ptr<Sampler> samplers[2];
  for (int i = 0; i < 2; ++i) {
    // The rings of both together must fit into the memory that an unprivileged user may lock.
    auto made = Sampler::OfRunning(victim.pid(), {.ring_bytes = 128 * 1024},
                                   [&samples, i](const Sample&) { ++samples[i]; });
    if (!made) GTEST_SKIP() << made.error().message;
    samplers[i] = *std::move(made);
  }
  ASSERT_TRUE(WaitUntil([&] {
    for (const auto& sampler : samplers) EXPECT_TRUE(sampler->Wait(std::chrono::milliseconds(20)));
    return samples[0] >= 10 && samples[1] >= 10;
  }));
  victim.End();
  EXPECT_EQ(victim.Reap(), 0);
}

TEST(AttachTest, CannotSampleAnExitedProcess) {
  RunningVictim victim;
  const pid_t pid = victim.pid();
  victim.End();
  victim.Reap();
  const auto made = Sampler::OfRunning(pid, {}, [](const Sample&) {});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace fieldcost::trace

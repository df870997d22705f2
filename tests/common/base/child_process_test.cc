#include "common/base/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace fieldcost {
namespace {

// Runs `script` to its end in a shell with its output in a pipe; returns the output.
std::string OutputOf(const std::string& script, ChildOptions options = {}) {
  auto pipe = MakePipe();
  EXPECT_TRUE(pipe);
  options.arguments = {"sh", "-c", script};
  options.output = pipe->write_end.get();
  const auto child = StartChild(options);
  EXPECT_TRUE(child) << child.error().message;
  pipe->write_end.Reset();
  std::string output;
  char chunk[256];
  for (;;) {
    const ssize_t got = ::read(pipe->read_end.get(), chunk, sizeof chunk);
    if (got <= 0) break;
    output.append(chunk, static_cast<std::size_t>(got));
  }
  EXPECT_EQ(ShellStatus(Reap(*child)), 0);
  return output;
}

TEST(ChildProcessTest, AChildHasTheGivenDescriptorsAndEnvironment) {
  EXPECT_EQ(OutputOf("echo \"$GREETING\"; read line || echo nothing; echo lost >&2",
                     {.environment = std::vector<std::string>{"GREETING=hello"},
                      .input = kNowhere,
                      .errors = kNowhere}),
            "hello\nnothing\n");
}

// Whether the mask of that name in a /proc/PID/status contains the signal.
bool HasSignal(const std::string& status, const std::string& mask, int signal) {
  const std::string name = mask + ":\t";
  const std::size_t at = status.find(name);
  EXPECT_NE(at, std::string::npos) << status;
  const std::uint64_t bits = std::stoull(status.substr(at + name.size()), nullptr, 16);
  return (bits >> (signal - 1) & 1) != 0;
}

TEST(ChildProcessTest, AChildHasNoSignalsBlockedAndIgnoresNoPipe) {
  sigset_t blocked;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  sigset_t before;
  ASSERT_EQ(::sigprocmask(SIG_BLOCK, &blocked, &before), 0);
  for (const int number : {SIGPIPE, SIGINT, SIGQUIT}) ::signal(number, SIG_IGN);
  const std::string script = "cat /proc/self/status";
  const std::string usual = OutputOf(script);
  const std::string restored = OutputOf(script, {.restored = {SIGINT, SIGQUIT}});
  for (const int number : {SIGPIPE, SIGINT, SIGQUIT}) ::signal(number, SIG_DFL);
  ASSERT_EQ(::sigprocmask(SIG_SETMASK, &before, nullptr), 0);
  for (const std::string& status : {usual, restored}) {
    EXPECT_FALSE(HasSignal(status, "SigBlk", SIGTERM));
    EXPECT_FALSE(HasSignal(status, "SigIgn", SIGPIPE));
  }
  for (const int number : {SIGINT, SIGQUIT}) {
    EXPECT_TRUE(HasSignal(usual, "SigIgn", number));
    EXPECT_FALSE(HasSignal(restored, "SigIgn", number));
  }
}

TEST(ChildProcessTest, AChildMayLeadAGroupOfItsOwn) {
  constexpr char kGroup[] = "cut -d ' ' -f 5 /proc/$$/stat";
  const std::string own = OutputOf(kGroup);
  EXPECT_EQ(own, std::to_string(::getpgrp()) + "\n");
  EXPECT_NE(OutputOf(kGroup, {.leads_group = true}), own);
}

TEST(ChildProcessTest, StatusesAreThoseOfAShell) {
  const std::vector<std::pair<std::string, int>> table = {
      {"exit 0", 0}, {"exit 7", 7}, {"kill -KILL $$", kSignalled + SIGKILL}};
  for (const auto& [script, status] : table) {
    const auto child = StartChild({.arguments = {"sh", "-c", script}});
    ASSERT_TRUE(child);
    EXPECT_EQ(ShellStatus(Reap(*child)), status) << script;
  }
}

TEST(ChildProcessTest, AProgramThatIsNotThereIsNamed) {
  const auto child = StartChild({.arguments = {"/nowhere/program"}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(child.error().message, ::testing::HasSubstr("run /nowhere/program"));
}

}  // namespace
}  // namespace fieldcost

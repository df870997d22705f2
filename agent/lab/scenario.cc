#include "agent/lab/scenario.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "agent/reach/preload_variable.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"

extern char** environ;

namespace fieldcost::lab {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kSignalled = 128;  // as a shell shows it
constexpr std::size_t kLastErrorBytes = 2048;
constexpr auto kLook = std::chrono::milliseconds(20);
constexpr auto kLookAtTheEnd = std::chrono::milliseconds(1);
// What a program that has ended left open may still be written to by what it started.
constexpr auto kDrainAfterEnd = std::chrono::milliseconds(100);

volatile std::sig_atomic_t interrupted = 0;

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&value_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&value_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t* get() { return &value_; }

 private:
  posix_spawn_file_actions_t value_;
};

class Attributes {
 public:
  Attributes() {
    ::posix_spawnattr_init(&value_);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&value_, &none);
    sigset_t usual;
    ::sigemptyset(&usual);
    ::sigaddset(&usual, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&value_, &usual);
    ::posix_spawnattr_setpgroup(&value_, 0);
    ::posix_spawnattr_setflags(
        &value_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~Attributes() { ::posix_spawnattr_destroy(&value_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  posix_spawnattr_t* get() { return &value_; }

 private:
  posix_spawnattr_t value_;
};

std::vector<std::string> EnvironmentOf(const ScenarioOptions& options) {
  auto added = options.environment;
  added.emplace_back("LD_PRELOAD", agent::PreloadWith(options.library));
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_replaced =
        std::any_of(added.begin(), added.end(), [&](const auto& one) { return one.first == name; });
    if (!is_replaced) environment.emplace_back(text);
  }
  if (added.back().second.empty()) added.pop_back();
  for (const auto& [name, value] : added) environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("make", "a pipe", errno);
  Pipe pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
  ::fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

// What the command writes, while it runs.
class Drain {
 public:
  Drain(UniqueFd output, UniqueFd errors)
      : output_(std::move(output)), errors_(std::move(errors)) {}

  // Waits until something was written, at most that long, and takes it.
  void Take(std::chrono::milliseconds patience) {
    std::array<pollfd, 2> polled{pollfd{output_.get(), POLLIN, 0},
                                 pollfd{errors_.get(), POLLIN, 0}};
    ::poll(polled.data(), polled.size(), static_cast<int>(patience.count()));
    if (polled[0].revents != 0) TakeFrom(output_, [&](auto bytes) { hash_.Update(bytes); });
    if (polled[1].revents != 0) TakeFrom(errors_, [&](auto bytes) { AddErrors(bytes); });
  }
  bool is_open() const { return output_.valid() || errors_.valid(); }
  std::string OutputHash() { return HexEncode(hash_.Finish()); }
  const std::string& last_errors() const { return last_errors_; }

 private:
  template <typename Use>
  static void TakeFrom(UniqueFd& fd, Use use) {
    std::array<char, 65536> bytes;
    const ssize_t got = ::read(fd.get(), bytes.data(), bytes.size());
    if (got > 0) {
      use(std::string_view(bytes.data(), static_cast<std::size_t>(got)));
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      fd.Reset();
    }
  }
  void AddErrors(std::string_view bytes) {
    last_errors_ += bytes;
    if (last_errors_.size() > kLastErrorBytes) {
      last_errors_.erase(0, last_errors_.size() - kLastErrorBytes);
    }
  }

  UniqueFd output_;
  UniqueFd errors_;
  crypto::Sha256Stream hash_;
  std::string last_errors_;
};

Result<pid_t> Start(const ScenarioOptions& options, const Pipe& output, const Pipe& errors) {
  FileActions actions;
  ::posix_spawn_file_actions_addopen(actions.get(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (options.output == OutputMode::kNull) {
    ::posix_spawn_file_actions_addopen(actions.get(), STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  } else if (options.output == OutputMode::kPipe) {
    ::posix_spawn_file_actions_adddup2(actions.get(), output.write_end.get(), STDOUT_FILENO);
  }
  ::posix_spawn_file_actions_adddup2(actions.get(), errors.write_end.get(), STDERR_FILENO);
  Attributes attributes;
  const std::vector<std::string> environment = EnvironmentOf(options);
  pid_t child = 0;
  const int why =
      ::posix_spawnp(&child, options.command[0].c_str(), actions.get(), attributes.get(),
                     Pointers(options.command).data(), Pointers(environment).data());
  if (why != 0) return ErrnoError("run", options.command[0], why);
  return child;
}

}  // namespace

void Interrupt() { interrupted = 1; }
bool IsInterrupted() { return interrupted != 0; }

Result<ScenarioRun> RunScenario(const ScenarioOptions& options) {
  FIELDCOST_ASSIGN(Pipe output, MakePipe());
  FIELDCOST_ASSIGN(Pipe errors, MakePipe());
  ScenarioRun run;
  if (IsInterrupted()) {
    run.interrupted = true;
    return run;
  }
  const SteadyClock::time_point begin = SteadyClock::now();
  FIELDCOST_ASSIGN(const pid_t child, Start(options, output, errors));
  output.write_end.Reset();
  errors.write_end.Reset();
  if (options.output != OutputMode::kPipe) output.read_end.Reset();
  Drain drain(std::move(output.read_end), std::move(errors.read_end));

  int status = 0;
  rusage used{};
  for (;;) {
    // What has closed its output is about to end.
    drain.Take(drain.is_open() ? kLook : kLookAtTheEnd);
    const pid_t ended = ::wait4(child, &status, WNOHANG, &used);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return ErrnoError("wait for", options.command[0], errno);
    const bool is_late = options.timeout && SteadyClock::now() - begin > *options.timeout;
    if (!is_late && !IsInterrupted()) continue;
    run.timed_out = is_late;
    run.interrupted = !is_late;
    ::kill(-child, SIGKILL);
    while (::wait4(child, &status, 0, &used) < 0 && errno == EINTR) {
    }
    break;
  }
  run.wall_ns = static_cast<std::uint64_t>((SteadyClock::now() - begin).count());
  const SteadyClock::time_point end = SteadyClock::now();
  while (drain.is_open() && SteadyClock::now() - end < kDrainAfterEnd) drain.Take(kLook);
  run.status = WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
  run.involuntary_switches = static_cast<std::uint64_t>(used.ru_nivcsw);
  if (options.output == OutputMode::kPipe) run.output_hash = drain.OutputHash();
  run.last_errors = drain.last_errors();
  return run;
}

Result<int> RunShell(const std::string& command) {
  FIELDCOST_ASSIGN(const ScenarioRun run, RunScenario({.command = {"/bin/sh", "-c", command},
                                                       .output = OutputMode::kInherit,
                                                       .timeout = {},
                                                       .library = {},
                                                       .environment = {}}));
  return run.status;
}

}  // namespace fieldcost::lab

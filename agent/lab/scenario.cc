#include "agent/lab/scenario.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "agent/reach/preload_variable.h"
#include "common/base/child_process.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"

namespace fieldcost::lab {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kLastErrorBytes = 2048;
constexpr auto kLook = std::chrono::milliseconds(20);
constexpr auto kLookAtTheEnd = std::chrono::milliseconds(1);
// After a program has ended, processes that it started may still write to its pipes.
constexpr auto kDrainAfterEnd = std::chrono::milliseconds(100);

volatile std::sig_atomic_t interrupted = 0;

std::vector<std::string> EnvironmentOf(const ScenarioOptions& options) {
  auto added = options.environment;
  added.emplace_back("LD_PRELOAD", reach::PreloadWith(options.library));
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

// Creates a pipe whose read end is non-blocking.
Result<Pipe> MakeDrain() {
  FIELDCOST_ASSIGN(Pipe pipe, MakePipe());
  ::fcntl(pipe.read_end.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

// Reads the command's output while it runs.
class Drain {
 public:
  Drain(UniqueFd output, UniqueFd errors)
      : output_(std::move(output)), errors_(std::move(errors)) {}

  // Waits for output, at most `patience`, and reads it.
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

int OutputOf(OutputMode mode, const Pipe& pipe) {
  switch (mode) {
    case OutputMode::kPipe:
      return pipe.write_end.get();
    case OutputMode::kNull:
      return kNowhere;
    case OutputMode::kInherit:
      break;
  }
  return kOurs;
}

}  // namespace

void Interrupt() { interrupted = 1; }
bool IsInterrupted() { return interrupted != 0; }

Result<ScenarioRun> RunScenario(const ScenarioOptions& options) {
  FIELDCOST_ASSIGN(Pipe output, MakeDrain());
  FIELDCOST_ASSIGN(Pipe errors, MakeDrain());
  ScenarioRun run;
  if (IsInterrupted()) {
    run.interrupted = true;
    return run;
  }
  int input = kNowhere;
  if (options.input) {
    FIELDCOST_ASSIGN(input, options.input->Next());
  }
  const SteadyClock::time_point begin = SteadyClock::now();
  FIELDCOST_ASSIGN(const pid_t child, StartChild({.arguments = options.command,
                                                  .environment = EnvironmentOf(options),
                                                  .input = input,
                                                  .output = OutputOf(options.output, output),
                                                  .errors = errors.write_end.get(),
                                                  .leads_group = true}));
  output.write_end.Reset();
  errors.write_end.Reset();
  if (options.output != OutputMode::kPipe) output.read_end.Reset();
  Drain drain(std::move(output.read_end), std::move(errors.read_end));

  int status = 0;
  rusage used{};
  for (;;) {
    // A program that has closed its output is about to end.
    drain.Take(drain.is_open() ? kLook : kLookAtTheEnd);
    if (options.look) options.look(child);
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
  run.status = ShellStatus(status);
  run.involuntary_switches = static_cast<std::uint64_t>(used.ru_nivcsw);
  if (options.output == OutputMode::kPipe) run.output_hash = drain.OutputHash();
  run.last_errors = drain.last_errors();
  return run;
}

Result<int> RunShell(const std::string& command) {
  FIELDCOST_ASSIGN(const ScenarioRun run, RunScenario({.command = {"/bin/sh", "-c", command},
                                                       .input = {},
                                                       .output = OutputMode::kInherit,
                                                       .timeout = {},
                                                       .library = {},
                                                       .environment = {}}));
  return run.status;
}

}  // namespace fieldcost::lab

#include "agent/perf/command_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "common/base/child_process.h"
#include "common/base/terminal_text.h"

namespace fieldcost::perf {
namespace {

constexpr int kCannotRun = 127;
constexpr std::size_t kMostCommandBytes = std::size_t{1} << 22;

volatile sig_atomic_t stopped_by = 0;
std::atomic<pid_t> running{0};

void OnSignal(int number) {
  stopped_by = number;
  if (const pid_t child = running.load(); child != 0) ::kill(child, number);
}

// Makes `input` the standard input. Closes standard input if that fails: otherwise the command
// would read another program's input.
void TakeInput(int input) {
  const UniqueFd nothing(input == kNowhere ? ::open("/dev/null", O_RDONLY | O_CLOEXEC) : -1);
  const int from = input == kNowhere ? nothing.get() : input;
  if (::dup2(from, STDIN_FILENO) < 0) ::close(STDIN_FILENO);
}

// Runs in the child: waits until `go` is closed, then executes the command. If that fails, writes
// errno to `why`.
[[noreturn]] void Become(const std::vector<char*>& command,
                         const CommandChild::Variables& variables, int input, Pipe& go, Pipe& why) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
  go.write_end.Reset();
  if (input != kOurs) TakeInput(input);
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  char byte = 0;
  while (::read(go.read_end.get(), &byte, 1) < 0 && errno == EINTR) {
  }
  ::execvp(command[0], command.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(why.write_end.get(), &error, sizeof error);
  ::_exit(kCannotRun);
}

}  // namespace

void HandleSignals() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
}

int StoppedBy() { return stopped_by; }

std::string CommandOfProcess(pid_t pid) {
  std::string text = ReadFile(fmt::format("/proc/{}/cmdline", pid), kMostCommandBytes).value_or("");
  while (text.ends_with('\0')) text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

Result<RunInput> InputOfRuns(const std::filesystem::path& file, std::uint64_t runs) {
  FIELDCOST_ASSIGN(RunInput input, RunInput::Open({.file = file, .runs = runs}));
  if (!input.note().empty()) PrintRemark(input.note());
  return input;
}

Result<CommandChild> CommandChild::Prepare(const std::vector<std::string>& command,
                                           const Variables& variables, int input) {
  FIELDCOST_ASSIGN(Pipe go, MakePipe());
  FIELDCOST_ASSIGN(Pipe why, MakePipe());
  const std::vector<char*> words = ExecPointers(command);
  const pid_t child = ::fork();
  if (child < 0) return ErrnoError("start", command[0], errno);
  if (child == 0) Become(words, variables, input, go, why);
  running = child;
  return CommandChild(command[0], child, std::move(go.write_end), std::move(why.read_end));
}

CommandChild::CommandChild(CommandChild&& other) noexcept
    : name_(std::move(other.name_)),
      pid_(std::exchange(other.pid_, 0)),
      process_(std::move(other.process_)),
      go_(std::move(other.go_)),
      why_(std::move(other.why_)) {}

CommandChild::~CommandChild() {
  if (pid_ == 0) return;
  Kill();
  [[maybe_unused]] const Result<int> status = Wait();
}

void CommandChild::Kill() const { ::kill(pid_, SIGKILL); }

Result<bool> CommandChild::EndsWithin(std::chrono::milliseconds limit) {
  if (!process_.valid()) process_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!process_.valid()) return ErrnoError("follow process", std::to_string(pid_), errno);
  pollfd waiting{.fd = process_.get(), .events = POLLIN, .revents = 0};
  const int ready = ::poll(&waiting, 1, static_cast<int>(limit.count()));
  if (ready < 0 && errno != EINTR) return ErrnoError("follow process", std::to_string(pid_), errno);
  return ready > 0;
}

Result<int> CommandChild::Wait() {
  go_.Reset();
  const int status = Reap(pid_);
  running = 0;
  pid_ = 0;
  int error = 0;
  if (::read(why_.get(), &error, sizeof error) == sizeof error)
    return ErrnoError("run", name_, error);
  return ShellStatus(status);
}

}  // namespace fieldcost::perf

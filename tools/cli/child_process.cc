#include "tools/cli/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace fieldcost::cli {
namespace {

constexpr int kSignalled = 128;  // as a shell shows it

}  // namespace

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("make", "a pipe", errno);
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

Result<pid_t> StartChild(ChildOptions options) {
  std::vector<char*> arguments;
  for (std::string& argument : options.arguments) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (options.input >= 0) {
    ::posix_spawn_file_actions_adddup2(&actions, options.input, STDIN_FILENO);
  }
  if (options.output >= 0) {
    ::posix_spawn_file_actions_adddup2(&actions, options.output, STDOUT_FILENO);
  }
  if (options.quiet) {
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int number : {SIGPIPE, SIGINT, SIGQUIT}) ::sigaddset(&signals, number);
  ::posix_spawnattr_setsigdefault(&attributes, &signals);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return ErrnoError("run", options.arguments[0], error);
  return child;
}

int WaitForChild(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

void Feed(int write_end, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(write_end, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

IgnoreInterrupts::IgnoreInterrupts() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGINT, &ignore, &interrupt_);
  ::sigaction(SIGQUIT, &ignore, &quit_);
}

IgnoreInterrupts::~IgnoreInterrupts() {
  ::sigaction(SIGINT, &interrupt_, nullptr);
  ::sigaction(SIGQUIT, &quit_, nullptr);
}

}  // namespace fieldcost::cli

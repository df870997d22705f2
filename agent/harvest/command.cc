#include "agent/harvest/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/base/file.h"

namespace fieldcost::agent {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct FileActions {
  posix_spawn_file_actions_t value;
  FileActions() { ::posix_spawn_file_actions_init(&value); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&value); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
};

// The child must not inherit the signals that the daemon blocks.
struct Attributes {
  posix_spawnattr_t value;
  Attributes() {
    ::posix_spawnattr_init(&value);
    sigset_t none;
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&value, &none);
    ::posix_spawnattr_setflags(&value, POSIX_SPAWN_SETSIGMASK);
  }
  ~Attributes() { ::posix_spawnattr_destroy(&value); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
};

int Reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Reads to the end of `fd`.
Status ReadAll(int fd, std::size_t max_bytes, SteadyClock::time_point deadline, std::string& out) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now());
    pollfd polled{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&polled, 1, std::max(0, static_cast<int>(left.count())));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return Fail(ErrorCode::kDeadlineExceeded, "did not end in time");
    char chunk[4096];
    const ssize_t got = ::read(fd, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    out.append(chunk, static_cast<std::size_t>(got));
    if (out.size() > max_bytes) return Fail(ErrorCode::kTooLarge, "wrote too much");
  }
}

}  // namespace

Result<CommandResult> RunCommand(const std::vector<std::string>& arguments,
                                 std::size_t max_output_bytes, std::chrono::milliseconds limit) {
  const SteadyClock::time_point deadline = SteadyClock::now() + limit;
  const std::string& program = arguments.front();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("make a pipe for", program, errno);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  FileActions actions;
  ::posix_spawn_file_actions_addopen(&actions.value, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions.value, write_end.get(), 1);
  ::posix_spawn_file_actions_addopen(&actions.value, 2, "/dev/null", O_WRONLY, 0);
  const Attributes attributes;
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv;
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
  char locale[] = "LC_ALL=C";
  char* environment[] = {path, locale, nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions.value, &attributes.value,
                                  argv.data(), environment);
  if (error != 0) return ErrnoError("run", program, error);
  write_end.Reset();
  CommandResult result;
  const Status status = ReadAll(read_end.get(), max_output_bytes, deadline, result.output);
  if (!status) ::kill(pid, SIGKILL);
  const int wait_status = Reap(pid);
  if (!status) return Within(status.error(), program);
  if (WIFEXITED(wait_status)) result.exit_status = WEXITSTATUS(wait_status);
  return result;
}

}  // namespace fieldcost::agent

#include "tests/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/base/check.h"

namespace fieldcost::testing {
namespace {

using SteadyClock = std::chrono::steady_clock;

int MillisUntil(SteadyClock::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now()).count();
  return left < 0 ? 0 : static_cast<int>(left);
}

// Starts the child with its stdin, stdout and stderr on the given descriptors.
pid_t Start(const ProcessOptions& options, int in, int out, int err) {
  std::vector<char*> arguments;
  for (const std::string& argument : options.arguments) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const pid_t pid = ::fork();
  FIELDCOST_CHECK(pid >= 0);
  if (pid > 0) return pid;
  for (const auto& name : options.unset) ::unsetenv(name.c_str());
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) ::_exit(126);
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  ::signal(SIGPIPE, SIG_DFL);
  ::execvp(arguments[0], arguments.data());
  ::dprintf(2, "cannot run %s: %s\n", arguments[0], std::strerror(errno));
  ::_exit(127);
}

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() {
    int ends[2];
    FIELDCOST_CHECK(::pipe2(ends, O_CLOEXEC) == 0);
    read = ends[0];
    write = ends[1];
  }
};

ProcessResult ResultOf(int wait_status) {
  ProcessResult result;
  if (WIFEXITED(wait_status)) result.exit_status = WEXITSTATUS(wait_status);
  if (WIFSIGNALED(wait_status)) result.signal = WTERMSIG(wait_status);
  return result;
}

// Reaps `pid`; kills it first if it has not ended by `deadline`.
int Reap(pid_t pid, SteadyClock::time_point deadline) {
  const int ended = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  pollfd end{ended, POLLIN, 0};
  while (::poll(&end, 1, MillisUntil(deadline)) < 0 && errno == EINTR) {
  }
  ::close(ended);
  if (end.revents == 0) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

ProcessResult RunProcess(const ProcessOptions& options, std::chrono::seconds limit) {
  const auto deadline = SteadyClock::now() + limit;
  Pipe in;
  Pipe out;
  Pipe err;
  // Closed at once, so that the child never sees an empty input that is still open.
  if (options.input.empty()) ::close(in.write);
  const pid_t pid = Start(options, in.read, out.write, err.write);
  ::close(in.read);
  ::close(out.write);
  ::close(err.write);
  ::signal(SIGPIPE, SIG_IGN);
  std::string_view input = options.input;
  std::string output;
  std::string errors;
  pollfd polled[3] = {{out.read, POLLIN, 0}, {err.read, POLLIN, 0}, {in.write, POLLOUT, 0}};
  if (input.empty()) {
    polled[2].fd = -1;
  } else {
    ::fcntl(in.write, F_SETFL, O_NONBLOCK);
  }
  while (polled[0].fd >= 0 || polled[1].fd >= 0) {
    const int ready = ::poll(polled, 3, MillisUntil(deadline));
    if (ready == 0) {
      ::kill(pid, SIGKILL);
      break;
    }
    for (int i = 0; i < 2; ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) continue;
      char chunk[65536];
      const ssize_t got = ::read(polled[i].fd, chunk, sizeof chunk);
      if (got <= 0) {
        polled[i].fd = -1;
      } else {
        (i == 0 ? output : errors).append(chunk, static_cast<std::size_t>(got));
      }
    }
    if (polled[2].fd >= 0 && polled[2].revents != 0) {
      const ssize_t put = ::write(in.write, input.data(), input.size());
      if (put > 0) input.remove_prefix(static_cast<std::size_t>(put));
      if (put < 0 || input.empty()) {
        ::close(in.write);
        polled[2].fd = -1;
      }
    }
  }
  if (polled[2].fd >= 0) ::close(in.write);
  ::close(out.read);
  ::close(err.read);
  ProcessResult result = ResultOf(Reap(pid, deadline));
  result.output = std::move(output);
  result.errors = std::move(errors);
  return result;
}

BackgroundProcess::BackgroundProcess(const ProcessOptions& options) {
  Pipe out;
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  pid_ = Start(options, null, out.write, out.write);
  ::close(null);
  ::close(out.write);
  pipe_ = out.read;
}

BackgroundProcess::~BackgroundProcess() {
  if (!reaped_) {
    ::kill(pid_, SIGKILL);
    Reap(pid_, SteadyClock::now() + std::chrono::seconds(10));
  }
  ::close(pipe_);
}

bool BackgroundProcess::ReadSome(SteadyClock::time_point deadline) {
  pollfd polled{pipe_, POLLIN, 0};
  if (::poll(&polled, 1, MillisUntil(deadline)) <= 0) return false;
  char chunk[65536];
  const ssize_t got = ::read(pipe_, chunk, sizeof chunk);
  if (got <= 0) return false;
  output_.append(chunk, static_cast<std::size_t>(got));
  return true;
}

bool BackgroundProcess::WaitForLine(const std::string& text, std::string* line,
                                    std::chrono::seconds limit) {
  const auto deadline = SteadyClock::now() + limit;
  for (;;) {
    for (std::size_t end; (end = output_.find('\n', searched_)) != std::string::npos;) {
      const std::string found = output_.substr(searched_, end - searched_);
      searched_ = end + 1;
      if (found.find(text) == std::string::npos) continue;
      if (line != nullptr) *line = found;
      return true;
    }
    if (!ReadSome(deadline)) return false;
  }
}

void BackgroundProcess::Signal(int signal_number) { ::kill(pid_, signal_number); }

ProcessResult BackgroundProcess::Wait(std::chrono::seconds limit) {
  const auto deadline = SteadyClock::now() + limit;
  if (!reaped_) {
    while (ReadSome(deadline)) {
    }
    status_ = Reap(pid_, deadline);
    reaped_ = true;
  }
  ProcessResult result = ResultOf(status_);
  result.output = output_;
  return result;
}

}  // namespace fieldcost::testing

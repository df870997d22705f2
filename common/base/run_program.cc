#include "common/base/run_program.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/base/child_process.h"

namespace fieldcost {
namespace {

using SteadyClock = std::chrono::steady_clock;

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
  FIELDCOST_ASSIGN(Pipe pipe, MakePipe());
  FIELDCOST_ASSIGN(const pid_t child,
                   StartChild({.arguments = arguments,
                               .environment = std::vector<std::string>(
                                   {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"}),
                               .input = kNowhere,
                               .output = pipe.write_end.get(),
                               .errors = kNowhere}));
  pipe.write_end.Reset();
  CommandResult result;
  const Status status = ReadAll(pipe.read_end.get(), max_output_bytes, deadline, result.output);
  if (!status) ::kill(child, SIGKILL);
  const int wait_status = Reap(child);
  if (!status) return Within(status.error(), arguments.front());
  if (WIFEXITED(wait_status)) result.exit_status = WEXITSTATUS(wait_status);
  return result;
}

}  // namespace fieldcost

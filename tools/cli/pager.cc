#include "tools/cli/pager.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "common/base/file.h"
#include "tools/cli/terminal_io.h"
#include "tools/report/terminal.h"

namespace fieldcost::cli {
namespace {

constexpr char kDefaultPager[] = "less";
constexpr char kLessOptions[] = "FRX";  // quit if one screen, keep colours, leave the text there
constexpr unsigned kUsualRows = 24;
constexpr unsigned kUsualColumns = 80;
constexpr int kCannotRun = 126;  // and 127: what a shell exits with then

std::string ChoosePager() {
  for (const char* name : {"FIELDCOST_PAGER", "PAGER"}) {
    if (std::getenv(name) != nullptr) {
      const std::string_view pager = Variable(name);
      return pager == "cat" ? "" : std::string(pager);
    }
  }
  return kDefaultPager;
}

bool FitsTerminal(std::string_view text) {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return !IsLonger(text, known ? size.ws_row : kUsualRows,
                   known && size.ws_col > 0 ? size.ws_col : kUsualColumns);
}

// While a pager runs, what is typed at it is its own business: ^C must not end us before it.
class IgnoreInterrupts {
 public:
  IgnoreInterrupts() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGINT, &ignore, &interrupt_);
    ::sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~IgnoreInterrupts() {
    ::sigaction(SIGINT, &interrupt_, nullptr);
    ::sigaction(SIGQUIT, &quit_, nullptr);
  }
  IgnoreInterrupts(const IgnoreInterrupts&) = delete;
  IgnoreInterrupts& operator=(const IgnoreInterrupts&) = delete;

 private:
  struct sigaction interrupt_ {};
  struct sigaction quit_ {};
};

// With the signals that this program ignores as usual again.
Result<pid_t> Spawn(std::string pager, int input) {
  std::string shell = "sh";
  std::string option = "-c";
  char* const arguments[] = {shell.data(), option.data(), pager.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int number : {SIGPIPE, SIGINT, SIGQUIT}) ::sigaddset(&signals, number);
  ::posix_spawnattr_setsigdefault(&attributes, &signals);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return ErrnoError("run", "/bin/sh", error);
  return child;
}

// False if the pager cannot be run, so that nothing of the text has been shown.
Result<bool> Show(std::string_view text, const std::string& pager) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("make", "a pipe", errno);
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const IgnoreInterrupts ignore;
  FIELDCOST_ASSIGN(const pid_t child, Spawn(pager, read_end.get()));
  read_end.Reset();
  while (!text.empty()) {
    const ssize_t put = ::write(write_end.get(), text.data(), text.size());
    if (put > 0) text.remove_prefix(static_cast<std::size_t>(put));
    if (put < 0 && errno != EINTR) break;  // the pager has seen enough
  }
  write_end.Reset();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return !WIFEXITED(status) || WEXITSTATUS(status) < kCannotRun;
}

}  // namespace

bool IsLonger(std::string_view text, unsigned rows, unsigned columns) {
  std::size_t used = 1;  // the shell's prompt
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::size_t width = report::PlainWidth(text.substr(0, end));
    used += width == 0 ? 1 : (width + columns - 1) / columns;
    if (used > rows) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

Status WritePaged(std::string_view text, const Output& output) {
  const std::string pager = ChoosePager();
  if (!output.pager || pager.empty() || Variable("TERM").empty() || Variable("TERM") == "dumb" ||
      ::isatty(STDOUT_FILENO) != 1 || FitsTerminal(text)) {
    return WriteStdout(text);
  }
  ::setenv("LESS", kLessOptions, 0);
  FIELDCOST_ASSIGN(const bool shown, Show(text, pager));
  if (shown) return {};
  Remark(fmt::format("the pager '{}' cannot be run", pager));
  return WriteStdout(text);
}

}  // namespace fieldcost::cli

#include "tools/cli/man_page.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "common/base/file.h"

namespace fieldcost::cli {
namespace {

constexpr char kMan[] = "man";

// Starts man(1) with one of its descriptors on our end of a pipe; the other ones are ours, or of no
// use.
Result<pid_t> StartMan(std::vector<std::string> arguments, int child_fd, int pipe_end, bool quiet) {
  arguments.insert(arguments.begin(), kMan);
  std::vector<char*> raw;
  for (std::string& argument : arguments) raw.push_back(argument.data());
  raw.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe_end, child_fd);
  if (quiet) {
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, kMan, &actions, nullptr, raw.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return pid;
  return Fail(ErrorCode::kUnavailable, "man(1) cannot be run; --roff does without");
}

int WaitFor(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("make", "a pipe", errno);
  Pipe pipe;
  pipe.read_end = UniqueFd(ends[0]);
  pipe.write_end = UniqueFd(ends[1]);
  return pipe;
}

// Reads at most kMaxManBytes, and then no more.
std::string ReadAll(int fd) {
  std::string text;
  char buffer[16 * 1024];
  while (text.size() < kMaxManBytes) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

bool IsMdoc(std::string_view page) {
  return page.starts_with(".Dd") || page.find("\n.Dd") != std::string_view::npos;
}

}  // namespace

Result<std::string> FindManPage(const std::string& untrusted_name,
                                const std::string& untrusted_section) {
  // With a slash it would be a file of this machine, whatever is in it.
  if (untrusted_name.find('/') != std::string::npos) return std::string();
  FIELDCOST_ASSIGN(Pipe pipe, MakePipe());
  std::vector<std::string> arguments = {"--recode=UTF-8", "--"};
  if (!untrusted_section.empty()) arguments.push_back(untrusted_section);
  arguments.push_back(untrusted_name);
  FIELDCOST_ASSIGN(const pid_t pid,
                   StartMan(std::move(arguments), STDOUT_FILENO, pipe.write_end.get(), true));
  pipe.write_end.Reset();
  std::string page = ReadAll(pipe.read_end.get());
  pipe.read_end.Reset();
  return WaitFor(pid) == 0 ? page : "";
}

std::string WithCost(std::string page, std::string_view name, const report::CostCard& card) {
  const report::RoffMacros macros =
      IsMdoc(page) ? report::RoffMacros::kMdoc : report::RoffMacros::kMan;
  if (page.empty()) {
    const std::string escaped = report::EscapeRoff(name);
    page = fmt::format(".TH \"{0}\" 3\n.SH NAME\n\\&{0} \\- what calls cost\n", escaped);
  }
  if (!page.ends_with('\n')) page += '\n';
  return page + CardRoff(card, macros);
}

Result<int> ShowManPage(const std::string& roff) {
  FIELDCOST_ASSIGN(Pipe pipe, MakePipe());
  FIELDCOST_ASSIGN(const pid_t pid,
                   StartMan({"--local-file", "-"}, STDIN_FILENO, pipe.read_end.get(), false));
  pipe.read_end.Reset();
  std::string_view rest = roff;
  while (!rest.empty()) {
    const ssize_t count = ::write(pipe.write_end.get(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;  // the user has seen enough
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  pipe.write_end.Reset();
  return WaitFor(pid);
}

}  // namespace fieldcost::cli

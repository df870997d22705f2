#include "common/base/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "common/base/check.h"

namespace fieldcost {
namespace {

class SpawnActions {
 public:
  SpawnActions() { ::posix_spawn_file_actions_init(&value_); }
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&value_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  void Set(int standard, int to) {
    if (to == kNowhere) {
      const int flags = standard == STDIN_FILENO ? O_RDONLY : O_WRONLY;
      ::posix_spawn_file_actions_addopen(&value_, standard, "/dev/null", flags, 0);
    } else if (to != kOurs) {
      ::posix_spawn_file_actions_adddup2(&value_, to, standard);
    }
  }
  const posix_spawn_file_actions_t* get() const { return &value_; }

 private:
  posix_spawn_file_actions_t value_;
};

class SpawnAttributes {
 public:
  explicit SpawnAttributes(const ChildOptions& options) {
    ::posix_spawnattr_init(&value_);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&value_, &signals);
    ::sigaddset(&signals, SIGPIPE);
    for (const int number : options.restored) ::sigaddset(&signals, number);
    ::posix_spawnattr_setsigdefault(&value_, &signals);
    if (options.leads_group) {
      ::posix_spawnattr_setpgroup(&value_, 0);
      flags |= POSIX_SPAWN_SETPGROUP;
    }
    ::posix_spawnattr_setflags(&value_, flags);
  }
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&value_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;

  const posix_spawnattr_t* get() const { return &value_; }

 private:
  posix_spawnattr_t value_;
};

}  // namespace

Result<Pipe> MakePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoError("make", "a pipe", errno);
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::vector<char*> ExecPointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

Result<pid_t> StartChild(const ChildOptions& options) {
  FIELDCOST_CHECK(!options.arguments.empty());
  SpawnActions actions;
  actions.Set(STDIN_FILENO, options.input);
  actions.Set(STDOUT_FILENO, options.output);
  actions.Set(STDERR_FILENO, options.errors);
  const SpawnAttributes attributes(options);
  const std::vector<char*> arguments = ExecPointers(options.arguments);
  std::vector<char*> environment;
  if (options.environment) environment = ExecPointers(*options.environment);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, arguments[0], actions.get(), attributes.get(), arguments.data(),
                     options.environment ? environment.data() : environ);
  if (error != 0) return ErrnoError("run", options.arguments[0], error);
  return child;
}

int Reap(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

int ShellStatus(int wait_status) {
  return WIFSIGNALED(wait_status) ? kSignalled + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace fieldcost

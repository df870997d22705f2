#include "tests/faults/store/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/units.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::faults {
namespace {

constexpr std::size_t kMaxShownBytes = 4 * kKiB;

[[noreturn]] void Work(const std::function<Status()>& work, const std::filesystem::path& errors,
                       std::chrono::seconds limit) {
  const int fd = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(fd, 2);
  ::alarm(static_cast<unsigned>(limit.count()));
  const Status status = work();
  if (!status) {
    const std::string line = "\n" + status.error().message + "\n";
    if (::write(2, line.data(), line.size()) < 0) ::_exit(2);
  }
  ::_exit(status ? 0 : 1);
}

}  // namespace

ChildResult RunInChild(const std::function<Status()>& work, std::chrono::seconds limit) {
  const testing::TempDir dir;
  const std::filesystem::path errors = dir.path() / "stderr";
  const pid_t pid = ::fork();
  FIELDCOST_CHECK(pid >= 0);
  if (pid == 0) Work(work, errors, limit);
  int status = 0;
  FIELDCOST_CHECK(::waitpid(pid, &status, 0) == pid);
  ChildResult result{.good = WIFEXITED(status) && WEXITSTATUS(status) == 0};
  if (result.good) return result;
  if (WIFSIGNALED(status)) {
    result.trouble = WTERMSIG(status) == SIGALRM
                         ? "hung"
                         : std::string("ended by ") + ::strsignal(WTERMSIG(status));
  }
  const auto text = ReadFile(errors, 64 * kMiB);
  if (text) {
    result.trouble +=
        text->substr(text->size() > kMaxShownBytes ? text->size() - kMaxShownBytes : 0);
  }
  return result;
}

std::uint64_t FirstSeed() {
  const char* const given = std::getenv("FIELDCOST_FAULT_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()() % 1'000'000'000;
  std::cout << "seed " << seed << std::endl;
  return seed;
}

bool LongForm() {
  const char* const value = std::getenv("FIELDCOST_FAULT_LONG");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

}  // namespace fieldcost::faults

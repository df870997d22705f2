#include "tests/faults/store/child.h"

#include <execinfo.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <rocksdb/env.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <thread>

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/units.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::faults {
namespace {

constexpr std::size_t kMaxShownBytes = 4 * kKiB;
constexpr int kStackFrames = 40;
// The most threads that may stop per pool: the one that failed, and those that wait for its locks.
constexpr int kStoppedThreads = 8;

// A known assertion failure of RocksDB 7.8.3 in builds with assertions: a flush of all tables fails
// when one of them had nothing to flush.
constexpr const char* kKnownAssertions[] = {"Assertion `!mems.empty()'"};

#if defined(__SANITIZE_THREAD__)
constexpr bool kSanitizerHasThreads = true;
#else
constexpr bool kSanitizerHasThreads = false;
#endif

std::ptrdiff_t ThreadsOfThisProcess() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

sem_t work_over;
std::atomic<bool> known_abort{false};

bool IsKnown(const std::string& text) {
  return std::any_of(std::begin(kKnownAssertions), std::end(kKnownAssertions),
                     [&](const char* known) { return text.find(known) != std::string::npos; });
}

// The engine's background threads belong to the whole process, so the next store would wait forever
// for threads that have stopped. They may also stop late, in a store that failed and was abandoned.
void ReplaceStoppedThreads() {
  rocksdb::Env* const env = rocksdb::Env::Default();
  for (const auto priority : {rocksdb::Env::HIGH, rocksdb::Env::LOW}) {
    env->SetBackgroundThreads(env->GetBackgroundThreads(priority) + kStoppedThreads, priority);
  }
}

[[noreturn]] void StopThread() {
  ReplaceStoppedThreads();
  known_abort = true;
  ::sem_post(&work_over);
  for (;;) ::pause();
}

// Prints where an assertion failed, which may be inside a library.
void OnAbort(int signal_number) {
  void* frames[kStackFrames];
  ::backtrace_symbols_fd(frames, ::backtrace(frames, kStackFrames), 2);
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

[[noreturn]] void Work(const std::function<Status()>& work, const std::filesystem::path& errors,
                       std::chrono::seconds limit) {
  const int fd = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(fd, 2);
  ::signal(SIGABRT, OnAbort);
  ::alarm(static_cast<unsigned>(limit.count()));
  const Status status = work();
  if (!status) {
    const std::string line = "\n" + status.error().message + "\n";
    if (::write(2, line.data(), line.size()) < 0) ::_exit(2);
  }
  ::_exit(status ? 0 : 1);
}

}  // namespace

// Replaces the C library's function: known assertion failures stop the thread. This cannot be done
// in a SIGABRT handler, because abort() holds a lock and would block a second failing thread
// forever.
extern "C" [[noreturn]] void __assert_fail(const char* assertion, const char* file,
                                           unsigned int line, const char* function) noexcept {
  const std::string text =
      fmt::format("{}:{}: {}: Assertion `{}' failed.\n", file, line, function, assertion);
  if (::write(2, text.data(), text.size()) < 0 || !IsKnown(text)) ::abort();
  StopThread();
}

ChildResult RunInChild(const std::function<Status()>& work, std::chrono::seconds limit) {
  // If this process had opened an engine, the child would wait forever for its threads.
  FIELDCOST_CHECK(kSanitizerHasThreads || ThreadsOfThisProcess() == 1);
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

bool RunUnlessEngineAborts(const std::function<void()>& work) {
  FIELDCOST_CHECK(::sem_init(&work_over, 0, 0) == 0);
  known_abort = false;
  // Leaked to the thread if it does not return.
  auto kept = std::make_unique<const std::function<void()>>(work);
  std::thread thread([raw = kept.get()] {
    (*raw)();
    ::sem_post(&work_over);
  });
  while (::sem_wait(&work_over) != 0) {
  }
  if (known_abort) {
    static_cast<void>(kept.release());
    thread.detach();
    return false;
  }
  thread.join();
  return true;
}

}  // namespace fieldcost::faults

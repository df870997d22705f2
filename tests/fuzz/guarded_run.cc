#include "tests/fuzz/guarded_run.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

namespace fieldcost::fuzz {
namespace {

constexpr int kTooMuchMemory = 120;  // exit status of the child

// Shared with the child, so that it survives the child.
struct Progress {
  std::atomic<std::uint64_t> number{0};
  std::atomic<std::uint64_t> slowest_ms{0};
  std::atomic<std::uint64_t> slowest_number{0};
  std::atomic<std::uint64_t> peak_mib{0};
};

Progress* MapProgress() {
  void* const memory =
      ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("cannot map memory for the progress");
  return new (memory) Progress;
}

void SetTimer(__itimer_which which, unsigned seconds) {
  const itimerval value{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
  ::setitimer(which, &value, nullptr);
}

struct Usage {
  std::uint64_t cpu_ms;
  std::uint64_t peak_mib;
};

Usage UsageNow() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto ms = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1000 +
           static_cast<std::uint64_t>(time.tv_usec) / 1000;
  };
  return {ms(usage.ru_utime) + ms(usage.ru_stime),
          static_cast<std::uint64_t>(usage.ru_maxrss) / 1024};
}

[[noreturn]] void RunInChild(std::uint64_t first, std::uint64_t count, const InputLimits& limits,
                             const std::function<void(std::uint64_t)>& run, Progress& progress) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  Usage before = UsageNow();
  for (std::uint64_t number = first; number < count; ++number) {
    progress.number = number;
    SetTimer(ITIMER_PROF, limits.cpu_seconds);
    SetTimer(ITIMER_REAL, limits.clock_seconds);
    run(number);
    const Usage now = UsageNow();
    if (now.cpu_ms - before.cpu_ms > progress.slowest_ms) {
      progress.slowest_ms = now.cpu_ms - before.cpu_ms;
      progress.slowest_number = number;
    }
    progress.peak_mib = std::max(progress.peak_mib.load(), now.peak_mib);
    if (now.peak_mib > limits.peak_mib) ::_exit(kTooMuchMemory);
    before = now;
  }
  progress.number = count;
  SetTimer(ITIMER_PROF, 0);
  std::exit(0);  // runs the leak check of the address sanitizer
}

std::string ReasonOf(int status, const InputLimits& limits) {
  if (WIFEXITED(status)) {
    if (WEXITSTATUS(status) != kTooMuchMemory) {
      return fmt::format("exit status {}", WEXITSTATUS(status));
    }
    return fmt::format("the process used more than {} MiB", limits.peak_mib);
  }
  if (WTERMSIG(status) == SIGPROF) return fmt::format("more than {} s of CPU", limits.cpu_seconds);
  if (WTERMSIG(status) == SIGALRM) return fmt::format("more than {} s", limits.clock_seconds);
  return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
}

}  // namespace

GuardedReport RunGuarded(std::uint64_t count, const InputLimits& limits,
                         const std::function<void(std::uint64_t number)>& run) {
  GuardedReport report;
  Progress* const progress = MapProgress();
  for (std::uint64_t first = 0; first <= count && report.failed.size() < kMaxFailedInputs;) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("cannot start a process for the inputs");
    if (child == 0) RunInChild(first, count, limits, run, *progress);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && progress->number == count) break;
    report.failed.push_back({progress->number, ReasonOf(status, limits)});
    first = progress->number + 1;
  }
  report.slowest_ms = progress->slowest_ms;
  report.slowest_number = progress->slowest_number;
  report.peak_mib = progress->peak_mib;
  ::munmap(progress, sizeof *progress);
  return report;
}

}  // namespace fieldcost::fuzz

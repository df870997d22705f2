// Threads that wait for a lock whose holder sleeps, so that the reason for idle CPUs is known: CPUs
// go idle at WaitForLock, and the thread that runs next comes from HoldAndSleep.
//
// All run on one CPU, the first permitted one or the named one, so that the last thread to leave it
// is always a waiting one: none waits before the holder sleeps, however busy the machine is.
// With --spread the kernel chooses CPUs, and no more is guaranteed.
//
// usage: idle_convoy [--rounds N] [--hold-us N] [--pause-us N] [--threads N] [--cpu N] [--spread]
//                    [--fixed]
// Lasts rounds * (hold + pause). --fixed: the holder does not sleep. It first prints "cpu N", and
// finally "rounds N interrupted N": how many of its system calls ended with EINTR.

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/wait_until.h"

namespace {

struct Options {
  long rounds = 100;
  long hold_us = 5'000;
  long pause_us = 0;
  long threads = 4;
  long cpu = -1;
  bool spread = false;
  bool fixed = false;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
std::vector<sem_t> starts;
sem_t finished;
volatile long work_sum = 0;
long interrupted = 0;  // guarded by the lock, or the holder's

long Await(sem_t& semaphore) {
  long interruptions = 0;
  while (sem_wait(&semaphore) != 0) ++interruptions;
  return interruptions;
}

// Waits until the thread that holds the lock, the process's first one, does not need the CPU. A
// waiter with SCHED_BATCH takes it from no other thread.
class Holder {
 public:
  Holder()
      : stat_(open(("/proc/self/task/" + std::to_string(getpid()) + "/stat").c_str(), O_RDONLY)) {}
  ~Holder() { close(stat_); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  void AwaitSleep() const {
    fieldcost::testing::WaitUntil([this] { return Sleeps(); });
  }

 private:
  bool Sleeps() const {
    char text[256] = {};
    if (pread(stat_, text, sizeof text - 1, 0) <= 0) return true;
    const char* const name_end = std::strrchr(text, ')');
    return name_end == nullptr || name_end[2] == 'S';
  }

  int stat_;
};

void Work() {
  for (int i = 0; i < 10'000; ++i) work_sum = work_sum + i;
}

// Inlined into its callers, so that they call the C library themselves.
__attribute__((always_inline)) inline void Sleep(long microseconds) {
  const timespec span{.tv_sec = microseconds / 1'000'000,
                      .tv_nsec = microseconds % 1'000'000 * 1'000};
  if (clock_nanosleep(CLOCK_MONOTONIC, 0, &span, nullptr) == EINTR) ++interrupted;
}

bool Parse(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name == "--spread") {
      options.spread = true;
    } else if (name == "--fixed") {
      options.fixed = true;
    } else if (i + 1 < count) {
      const long value = std::strtol(arguments[++i], nullptr, 10);
      if (name == "--rounds") {
        options.rounds = value;
      } else if (name == "--hold-us") {
        options.hold_us = value;
      } else if (name == "--pause-us") {
        options.pause_us = value;
      } else if (name == "--threads") {
        options.threads = value;
      } else if (name == "--cpu") {
        options.cpu = value;
      } else {
        return false;
      }
    } else {
      return false;
    }
  }
  return options.threads > 0;
}

// Restricts this thread, and those started later, to one of the permitted CPUs.
bool StayOnOneCpu(long cpu) {
  cpu_set_t cpus;
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return false;
  if (cpu < 0) {
    cpu = 0;
    while (!CPU_ISSET(static_cast<unsigned>(cpu), &cpus)) ++cpu;
  }
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<unsigned>(cpu), &cpus);
  return sched_setaffinity(0, sizeof cpus, &cpus) == 0;
}

}  // namespace

extern "C" {

__attribute__((noinline)) void WaitForLock() {
  pthread_mutex_lock(&lock);
  Work();
}

__attribute__((noinline)) void HoldAndSleep(long microseconds) {
  if (microseconds > 0) Sleep(microseconds);
  Work();
}

__attribute__((noinline)) void Pause(long microseconds) {
  if (microseconds > 0) Sleep(microseconds);
  Work();
}

__attribute__((noinline)) void Consume(std::size_t number, long rounds, bool after_sleep) {
  const sched_param parameters{};
  pthread_setschedparam(pthread_self(), SCHED_BATCH, &parameters);
  const Holder holder;
  for (long i = 0; i < rounds; ++i) {
    const long interruptions = Await(starts[number]);
    if (after_sleep) holder.AwaitSleep();
    WaitForLock();
    interrupted += interruptions;
    pthread_mutex_unlock(&lock);
    sem_post(&finished);
  }
}

}  // extern "C"

int main(int count, char** arguments) {
  Options options;
  if (!Parse(count, arguments, options)) {
    std::fprintf(stderr, "usage: see idle_convoy.cc\n");
    return 2;
  }
  if (!options.spread && !StayOnOneCpu(options.cpu)) {
    std::fprintf(stderr, "cpu %ld: %s\n", options.cpu, std::strerror(errno));
    return 1;
  }
  std::printf("cpu %d\n", sched_getcpu());
  std::fflush(stdout);
  starts.resize(static_cast<std::size_t>(options.threads));
  for (sem_t& start : starts) sem_init(&start, 0, 0);
  sem_init(&finished, 0, 0);
  std::vector<std::thread> threads;
  if (options.fixed) options.hold_us = 0;
  for (std::size_t i = 0; i < starts.size(); ++i)
    threads.emplace_back(Consume, i, options.rounds, options.hold_us > 0);
  for (long i = 0; i < options.rounds; ++i) {
    pthread_mutex_lock(&lock);
    for (sem_t& start : starts) sem_post(&start);
    HoldAndSleep(options.hold_us);
    pthread_mutex_unlock(&lock);
    long interruptions = 0;
    for (std::size_t done = 0; done < starts.size(); ++done) interruptions += Await(finished);
    Pause(options.pause_us);
    interrupted += interruptions;
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("rounds %ld interrupted %ld\n", options.rounds, interrupted);
  return 0;
}

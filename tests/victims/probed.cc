// A program with probe points that passes known ones. Each mode tests a promise of
// tests/agent/probe_preload.

#include <errno.h>
#include <fcntl.h>
#include <fieldcost/probe.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

int number_of(char** arguments, int index) { return atoi(arguments[index]); }

// Four events of a thread are open at the same time; each passes a value that identifies it.
void interleave(int thread, int events) {
  constexpr int kOpen = 4;
  fieldcost_event open[kOpen] = {};
  for (int i = 0; i < events + kOpen; ++i) {
    fieldcost_event& event = open[i % kOpen];
    const auto name_of = [&](int index) { return (thread + 1) * 1000000 + index; };
    if (event.run != 0) {
      FIELDCOST_POINT_VALUE_IN(event, "third", name_of(i - kOpen));
      FIELDCOST_EVENT_END(event);
    }
    if (i >= events) continue;
    FIELDCOST_EVENT_BEGIN(event, "interleaved");
    FIELDCOST_POINT_VALUE("first", name_of(i));  // the innermost: this one
    if (i > 0) FIELDCOST_POINT_VALUE_IN(open[(i - 1) % kOpen], "second", name_of(i - 1));
  }
}

int threads(char** arguments) {
  const int count = number_of(arguments, 0);
  const int events = number_of(arguments, 1);
  std::vector<std::thread> others;
  pthread_barrier_t all;
  pthread_barrier_init(&all, nullptr, static_cast<unsigned>(count));
  const auto run = [&](int thread) {
    pthread_barrier_wait(&all);
    interleave(thread, events);
    // Rings belong to live threads: none ends before all have one.
    pthread_barrier_wait(&all);
  };
  for (int i = 1; i < count; ++i) others.emplace_back(run, i);
  run(0);
  for (std::thread& other : others) other.join();
  return 0;
}

// One after the other: each takes over the previous one's ring.
int one_by_one(char** arguments) {
  for (int i = 0; i < number_of(arguments, 0); ++i) {
    std::thread([i] { FIELDCOST_POINT_VALUE("thread", i); }).join();
  }
  return 0;
}

int handed_over(char**) {
  fieldcost_event event;
  FIELDCOST_EVENT_BEGIN(event, "handed over");
  std::thread([event]() mutable {
    FIELDCOST_POINT_IN(event, "elsewhere");
    FIELDCOST_EVENT_END(event);
  }).join();
  FIELDCOST_POINT("of no event");  // the thread's event has ended elsewhere
  return 0;
}

int scopes(char**) {
  FIELDCOST_EVENT(outer, "outer");
  {
    FIELDCOST_EVENT(inner, "inner");
    FIELDCOST_POINT("in inner");
    FIELDCOST_POINT_IN(outer, "in outer");
  }
  FIELDCOST_POINT("in outer again");
  FIELDCOST_EVENT_END(outer);
  FIELDCOST_POINT("in the process");
  return 0;
}

// Passes points, each of which is in the file before the next line is read, until it is killed.
int counted(char**) {
  for (uint64_t i = 1;; ++i) {
    FIELDCOST_POINT_VALUE("counted", i);
    if (write(STDOUT_FILENO, &i, sizeof i) != sizeof i) return 1;
  }
}

int many(char** arguments) {
  FIELDCOST_EVENT(event, "many");
  const int count = number_of(arguments, 0);
  for (int i = 0; i < count; ++i) FIELDCOST_POINT_VALUE("one", i);
  puts("went on");
  return 0;
}

int forks(char**) {
  FIELDCOST_POINT("before");
  const pid_t silent = fork();
  if (silent == 0) _exit(0);
  waitpid(silent, nullptr, 0);
  const pid_t child = fork();
  FIELDCOST_POINT("after");
  if (child == 0) {
    std::thread([] { FIELDCOST_POINT("child's thread"); }).join();
    exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

int execs(char** arguments) {
  FIELDCOST_POINT("before");
  execv("/proc/self/exe", arguments);
  return 1;
}

int says_traceparent(char**) {
  FIELDCOST_EVENT(event, "request");
  char text[56];
  if (fieldcost_event_traceparent(event, text) == 0) return 0;
  setenv("TRACEPARENT", text, 1);
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "probed", "scopes", nullptr);
    _exit(127);
  }
  waitpid(child, nullptr, 0);
  return 0;
}

int joins(char** arguments) {
  fieldcost_event event = fieldcost_event_join(arguments[0]);
  FIELDCOST_POINT_IN(event, "joined");
  printf("%d\n", event.run != 0);
  return 0;
}

int keeps_errno(char**) {
  errno = 42;
  FIELDCOST_EVENT(event, "event");
  FIELDCOST_POINT("point");
  FIELDCOST_POINT_IN(event, "point");
  FIELDCOST_EVENT_END(event);
  const int in_main = errno;
  int in_thread = 0;
  std::thread([&] {
    errno = 43;
    FIELDCOST_POINT("thread's first");
    in_thread = errno;
  }).join();
  printf("%d %d\n", in_main, in_thread);
  return 0;
}

std::atomic<uint64_t> in_handler{0};
sem_t handled;
void pass_in_handler(int) {
  FIELDCOST_POINT("in handler");
  in_handler.fetch_add(1, std::memory_order_relaxed);
  sem_post(&handled);
}

// Two threads: one passes points, the other sends it signals whose handler passes more.
int signals(char**) {
  sem_init(&handled, 0, 0);
  signal(SIGUSR1, pass_in_handler);
  std::atomic<bool> done{false};
  const pthread_t target = pthread_self();
  std::thread sender([&] {
    for (int i = 0; i < 2000; ++i) {
      pthread_kill(target, SIGUSR1);
      while (sem_wait(&handled) != 0) {
      }
    }
    done = true;
  });
  uint64_t passed = 0;
  while (!done) {
    FIELDCOST_POINT("in main");
    ++passed;
  }
  sender.join();
  printf("%lu %lu\n", passed, in_handler.load());
  return 0;
}

// System calls may be fatal from then on.
int sandbox(char**) {
  FIELDCOST_POINT("before");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return 1;
  FIELDCOST_POINT("inside");
  FIELDCOST_EVENT(event, "inside");
  (void)!write(STDOUT_FILENO, "alive\n", 6);
  _exit(0);
}

int prints(char**) {
  FIELDCOST_POINT("before");
  fputs("not this\n", fopen("/dev/null", "w"));
  puts("first");
  puts("second");
  return 0;
}

int sites(char**) {
  FIELDCOST_POINT("same");
  FIELDCOST_POINT("same");
  for (int i = 0; i < 2; ++i) FIELDCOST_POINT("loop");
  return 0;
}

int makes_sites(char** arguments) {
  for (int i = 0; i < number_of(arguments, 0); ++i) {
    fieldcost_probe_site* const site =
        fieldcost_probe_make_site ? fieldcost_probe_make_site("made", "a.py", 7, "f") : nullptr;
    if (site == nullptr) {
      printf("%d\n", i);
      return 0;
    }
    fieldcost_probe_hit(site);
  }
  return 0;
}

int waits(char**) {
  FIELDCOST_POINT("waits");
  puts("ready");
  fflush(stdout);
  char byte;
  return read(STDIN_FILENO, &byte, 1) < 0 ? 1 : 0;
}

// Waits between its halves until the test writes to a pipe.
int in_two_halves(char** arguments) {
  const auto half = [&] {
    for (int i = 0; i < number_of(arguments, 0); ++i) FIELDCOST_POINT_VALUE("half", i);
  };
  half();
  puts("half");
  fflush(stdout);
  const int pipe = open(arguments[1], O_RDONLY);
  if (pipe < 0) return 1;
  half();
  return close(pipe);
}

// A secret that a stack record must not contain.
int canary(char** arguments) {
  char secret[64];
  snprintf(secret, sizeof secret, "canary_in_a_local_%s", arguments[0]);
  FIELDCOST_EVENT(event, "with a secret");
  for (int i = 0; i < 3; ++i) FIELDCOST_POINT_IN(event, "next to a secret");
  return printf("%s\n", secret) < 0 ? 1 : 0;
}

// The same, but is killed once the test writes to the pipe.
int canary_killed(char** arguments) {
  char secret[64];
  snprintf(secret, sizeof secret, "canary_in_a_local_%s", arguments[0]);
  FIELDCOST_EVENT(event, "with a secret");
  for (int i = 0; i < 3; ++i) FIELDCOST_POINT_IN(event, "next to a secret");
  puts("recorded");
  fflush(stdout);
  const int pipe = open(arguments[1], O_RDONLY);
  if (pipe < 0) return 1;
  return kill(getpid(), SIGKILL) + printf("%s\n", secret);
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string, std::function<int(char**)>> modes = {
      {"threads", threads},
      {"one_by_one", one_by_one},
      {"handed_over", handed_over},
      {"scopes", scopes},
      {"counted", counted},
      {"many", many},
      {"forks", forks},
      {"execs", execs},
      {"says_traceparent", says_traceparent},
      {"joins", joins},
      {"keeps_errno", keeps_errno},
      {"signals", signals},
      {"sandbox", sandbox},
      {"prints", prints},
      {"sites", sites},
      {"makes_sites", makes_sites},
      {"waits", waits},
      {"in_two_halves", in_two_halves},
      {"canary", canary},
      {"canary_killed", canary_killed}};
  const auto mode = modes.find(count > 1 ? arguments[1] : "");
  return mode == modes.end() ? 2 : mode->second(arguments + 2);
}

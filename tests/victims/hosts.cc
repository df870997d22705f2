// Programs that treat their process in ways that a preloaded library must survive; one per run.

#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/victims/victim_library.h"

extern char** environ;

namespace {

int ManyThreads() {  // more concurrent ones than the run file has slots
  constexpr int kThreads = 320;
  static pthread_barrier_t all_there;
  pthread_barrier_init(&all_there, nullptr, kThreads);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  std::vector<pthread_t> threads(kThreads);
  for (pthread_t& thread : threads) {
    const auto run = [](void*) -> void* {
      victim_noop();
      pthread_barrier_wait(&all_there);
      for (int i = 0; i < 999; ++i) victim_noop();
      return nullptr;
    };
    if (pthread_create(&thread, &attributes, run, nullptr) != 0) return 1;
  }
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  puts("joined");
  return 0;
}

// A fibre enters a measured call on one thread, returns and throws on another.
ucontext_t fibre;
ucontext_t back;
int fibre_result;

void ThrowOnAnotherThread() {
  for (int round = 0; round < 50; ++round) {
    try {
      victim_call_back(
          [](void*) {
            swapcontext(&fibre, &back);
            throw 7;
          },
          nullptr);
    } catch (int value) {
      fibre_result += value;
    }
    victim_call_back([](void*) { swapcontext(&fibre, &back); }, nullptr);
    ++fibre_result;
  }
}

int Migrate() {
  static char stack[131072];
  getcontext(&fibre);
  fibre.uc_stack.ss_sp = stack;
  fibre.uc_stack.ss_size = sizeof stack;
  fibre.uc_link = &back;
  makecontext(&fibre, ThrowOnAnotherThread, 0);
  const auto resume = [](void*) -> void* {
    victim_noop();
    swapcontext(&back, &fibre);
    victim_noop();
    return nullptr;
  };
  for (int i = 0; i <= 100; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, resume, nullptr) != 0) return 1;
    pthread_join(thread, nullptr);
  }
  printf("%d\n", fibre_result);
  return 0;
}

int Seccomp() {  // only read, write and exit from here on
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) return 1;
  for (int i = 0; i < 1000; ++i) victim_noop();
  for (int i = 0; i < 1000; ++i) {
    victim_call_back([](void*) { victim_noop(); }, nullptr);
  }
  const char text[] = "alive\n";
  if (write(1, text, sizeof text - 1) < 0) syscall(SYS_exit, 2);
  syscall(SYS_exit, 5);
  return 0;
}

int CloseAll() {
  const int before = open("/dev/null", O_RDONLY);
  printf("first descriptor %d\n", before);
  fflush(stdout);
  closefrom(3);
  for (int i = 0; i < 1000; ++i) victim_noop();
  pthread_t thread;
  const auto run = [](void*) -> void* {
    for (int i = 0; i < 1000; ++i) victim_noop();
    return nullptr;
  };
  if (pthread_create(&thread, nullptr, run, nullptr) != 0) return 1;
  pthread_join(thread, nullptr);
  puts("closed");
  return 0;
}

int Descriptors() {  // how many descriptors this program may open, and which
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  int last = -1;
  int count = 0;
  for (int fd = open("/dev/null", O_RDONLY); fd >= 0 && count < 100;
       fd = open("/dev/null", O_RDONLY)) {
    last = fd;
    ++count;
  }
  victim_noop();
  printf("%d %d\n", count, last);
  return 0;
}

int Memory() {  // how much memory this program may allocate, in steps of 4 MiB
  int steps = 0;
  while (steps < 64 && malloc(4 << 20) != nullptr) ++steps;
  victim_noop();
  printf("%d\n", steps);
  return 0;
}

int Pointers() {  // in a program at a fixed address &malloc is an entry of its PLT
  void* (*volatile make)(size_t) = malloc;
  printf("%d\n", make(10) != nullptr && malloc(5) != nullptr);
  free(victim_allocate(7));
  return 0;
}

int Callbacks() {
  static uint64_t compared;
  std::vector<int> values(2000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * 7919 % 2003);
  qsort(values.data(), values.size(), sizeof(int), [](const void* a, const void* b) {
    ++compared;
    victim_noop();
    char left[8];
    char right[8];
    memcpy(left, a, sizeof(int));
    memcpy(right, b, sizeof(int));
    return memcmp(a, b, 1) * 0 + *static_cast<const int*>(a) - *static_cast<const int*>(b);
  });
  uint64_t sum = compared > 0 ? 0 : 1;
  for (size_t i = 0; i < values.size(); ++i) sum = sum * 31 + static_cast<uint64_t>(values[i]);
  printf("%llu\n", static_cast<unsigned long long>(sum));
  return 0;
}

int Ifuncs(int argc, char** argv) {  // functions whose code is chosen at start, and versioned ones
  std::string text;
  size_t sum = static_cast<size_t>(argc);
  for (int i = 0; i < 300; ++i) {
    text += static_cast<char>('a' + i % 26);
    char copy[512];
    memcpy(copy, text.c_str(), text.size() + 1);
    memmove(copy + 1, copy, text.size() + 1);
    sum += strlen(copy) + static_cast<size_t>(strchr(copy, copy[i / 2]) - copy);
    memset(copy, i, static_cast<size_t>(i));
    sum += static_cast<size_t>(strcmp(copy, argv[0]) != 0);
  }
  printf("%zu %s\n", sum, realpath("/usr/../usr", nullptr));
  return 0;
}

int Spawn() {
  int status = 0;
  const pid_t child = vfork();
  if (child == 0) {
    victim_noop();
    execl("/bin/echo", "echo", "vforked", nullptr);
    _exit(9);
  }
  waitpid(child, &status, 0);
  victim_noop();
  char* arguments[] = {const_cast<char*>("echo"), const_cast<char*>("spawned"), nullptr};
  pid_t spawned = 0;
  if (posix_spawn(&spawned, "/bin/echo", nullptr, nullptr, arguments, environ) != 0) return 1;
  waitpid(spawned, &status, 0);
  victim_noop();
  execl("/bin/echo", "echo", "executed", nullptr);
  return 1;
}

int HardExit() {
  puts("printed before");
  fflush(stdout);
  victim_call_back([](void*) { _exit(11); }, nullptr);
  return 0;
}
int QuickExit() {
  at_quick_exit([] { victim_noop(); });
  victim_call_back([](void*) { quick_exit(12); }, nullptr);
  return 0;
}
int Abort() {
  victim_call_back([](void*) { abort(); }, nullptr);
  return 0;
}

int HighRate() {  // signals on a separate stack, aimed at a thread in measured calls
  static volatile sig_atomic_t seen;
  static char alternate[65536];
  const stack_t stack = {alternate, 0, sizeof alternate};
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_flags = SA_ONSTACK;
  action.sa_handler = [](int) {
    seen = seen + 1;
    for (int i = 0; i < 3; ++i) victim_noop();
    try {
      victim_throw(1);
    } catch (int) {
    }
  };
  sigaction(SIGUSR1, &action, nullptr);
  static volatile bool stop = false;
  static const pthread_t target = pthread_self();
  pthread_t sender;
  const auto send = [](void*) -> void* {
    while (!stop) {
      pthread_kill(target, SIGUSR1);
      sched_yield();
    }
    return nullptr;
  };
  if (pthread_create(&sender, nullptr, send, nullptr) != 0) return 1;
  // Each signal may wait until both threads have had a turn on a busy machine.
  constexpr long long kMostRounds = 100'000'000'000;
  for (long long round = 0; seen < 500; ++round) {
    if (round == kMostRounds) return 3;
    victim_noop();
    if (victim_tail(3) != 10) return 2;
  }
  stop = true;
  pthread_join(sender, nullptr);
  puts("survived");
  return 0;
}

__attribute__((target("avx512f"))) int WideVector() {
  alignas(64) double values[8];
  _mm512_store_pd(values, victim_wide_vector(_mm512_set_pd(1, 2, 3, 4, 5, 6, 7, 8)));
  for (const double value : values) printf("%g ", value);
  return 0;
}

int WideReturns() {
  __complex__ long double sum = 0;
  for (int i = 0; i < 100; ++i) sum += victim_complex(i);
  printf("%Lg %Lg\n", __real__ sum, __imag__ sum);
  if (__builtin_cpu_supports("avx512f")) return WideVector();
  puts("no __m512d: this processor has no AVX-512");
  return 0;
}

const struct {
  const char* name;
  int (*run)();
} kScenarios[] = {
    {"many-threads", ManyThreads}, {"migrate", Migrate},          {"seccomp", Seccomp},
    {"close-all", CloseAll},       {"descriptors", Descriptors},  {"memory", Memory},
    {"pointers", Pointers},        {"callbacks", Callbacks},      {"spawn", Spawn},
    {"hard-exit", HardExit},       {"quick-exit", QuickExit},     {"abort", Abort},
    {"high-rate", HighRate},       {"wide-returns", WideReturns},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "ifuncs") == 0) return Ifuncs(argc, argv);
  for (const auto& scenario : kScenarios) {
    if (argc > 1 && strcmp(argv[1], scenario.name) == 0) return scenario.run();
  }
  fprintf(stderr, "usage: hosts SCENARIO\n");
  return 64;
}

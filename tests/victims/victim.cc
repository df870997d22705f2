// A program that does one risky thing per run and prints the outcome. The tests run it with and
// without the agent: its output and exit status must be the same.

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/victims/victim_library.h"

namespace {

int Alloc() {  // 1,000 calls each allocating 3, 7 and 22 bytes
  for (int i = 0; i < 1000; ++i) {
    for (const uint64_t bytes : {3, 7, 22}) free(victim_allocate(bytes));
    free(victim_allocate_below(100));
  }
  puts("allocated");
  return 0;
}

int Calls() {
  for (int i = 0; i < 1000; ++i) victim_noop();
  printf("%llu %lld\n", static_cast<unsigned long long>(victim_recurse(2000)),
         static_cast<long long>(victim_tail(14)));
  return 0;
}

int Names() {
  for (int i = 0; i < 10; ++i) victim_noop();
  for (int i = 0; i < 7; ++i) victim_noop_too();
  puts("called");
  return 0;
}

int ReturnClasses() {
  double sum = 0;
  for (int i = 0; i < 100; ++i) {
    const VictimBig big = victim_big(i);
    const VictimPair pair = victim_pair(i);
    const VictimMixed mixed = victim_mixed(i);
    const VictimReals reals = victim_reals(i);
    sum += static_cast<double>(big.values[0] + big.values[4] + pair.first * 2 + pair.second);
    sum += static_cast<double>(mixed.number) + mixed.real + reals.first * reals.second;
    sum += victim_float(static_cast<float>(i)) + victim_double(i);
    sum += static_cast<double>(victim_long_double(i));
    sum += static_cast<double>(victim_stack_arguments(i, 2, 3, 4, 5, 6, 7, 8, 9));
    sum += victim_variadic(9, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.5);
  }
  printf("%.17g\n", sum);
  return 0;
}

__attribute__((target("avx"))) int Vector() {
  alignas(32) double values[4];
  _mm256_store_pd(values, victim_vector(_mm256_set_pd(1, 2, 3, 4)));
  printf("%g %g %g %g\n", values[0], values[1], values[2], values[3]);
  return 0;
}

struct Unwound {
  int* counter;
  ~Unwound() { ++*counter; }
};

__attribute__((noinline)) void ThrowOneHigher(int value, int* unwound) {
  const Unwound guard{unwound};
  victim_throw(value);
}

struct ThrowsWhileUnwinding {
  int* caught;
  ~ThrowsWhileUnwinding() {
    try {
      victim_throw(7);
    } catch (int value) {
      *caught += value;
    }
  }
};

int Exceptions() {
  int direct = 0;
  int higher = 0;
  int unwound = 0;
  int rethrown = 0;
  int in_destructor = 0;
  for (int i = 0; i < 1000; ++i) {
    try {
      victim_throw(1);
    } catch (int value) {
      direct += value;
    }
    try {
      ThrowOneHigher(2, &unwound);
    } catch (int value) {
      higher += value;
    }
    try {
      victim_rethrow(3);
    } catch (int value) {
      rethrown += value;
    }
    try {
      const ThrowsWhileUnwinding guard{&in_destructor};
      victim_throw(4);
    } catch (int) {
    }
    try {
      victim_call_back([](void*) { victim_throw(5); }, nullptr);
    } catch (int value) {
      direct += value;
    }
  }
  printf("%d %d %d %d %d\n", direct, higher, unwound, rethrown, in_destructor);
  return 0;
}

int Uncaught() {
  victim_throw(1);
  return 0;
}

jmp_buf jump_target;

int LongJumps() {
  volatile int jumps = 0;
  while (jumps < 100000) {
    if (setjmp(jump_target) == 0) {
      victim_call_back([](void*) { longjmp(jump_target, 1); }, nullptr);
    } else {
      jumps = jumps + 1;
    }
  }
  for (int i = 0; i < 1000; ++i) victim_noop();  // measured again
  printf("%d\n", jumps);
  return 0;
}

void* CallALot(void* calls) {
  for (int i = 0; i < *static_cast<int*>(calls); ++i) victim_noop();
  return nullptr;
}

int Threads() {  // 10,000 short threads, then a few at once
  int few = 10;
  for (int i = 0; i < 10000; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, CallALot, &few) != 0) return 1;
    pthread_join(thread, nullptr);
  }
  int many = 100000;
  pthread_t threads[8];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, CallALot, &many);
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  puts("joined");
  return 0;
}

int unwound_threads = 0;

void* ExitInside(void*) {
  const Unwound guard{&unwound_threads};
  victim_call_back([](void*) { pthread_exit(nullptr); }, nullptr);
  return nullptr;
}

void* WaitInside(void*) {
  const Unwound guard{&unwound_threads};
  victim_call_back([](void*) { pause(); }, nullptr);
  return nullptr;
}

int ThreadExits() {
  for (int i = 0; i < 100; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, ExitInside, nullptr);
    pthread_join(thread, nullptr);
    pthread_create(&thread, nullptr, WaitInside, nullptr);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
  }
  printf("%d\n", unwound_threads >= 100);
  return 0;
}

// Two fibres that enter a measured call and leave it in the same order, not in reverse.
ucontext_t main_context;
ucontext_t fibre_contexts[2];
std::string fibre_log;

void YieldInside(void* index) {
  const int self = *static_cast<int*>(index);
  fibre_log += static_cast<char>('a' + self);
  swapcontext(&fibre_contexts[self], &main_context);
  fibre_log += static_cast<char>('A' + self);
}

void RunFibre(int index) {
  for (int round = 0; round < 100; ++round) victim_call_back(YieldInside, &index);
}

int Fibres() {
  std::vector<std::vector<char>> stacks(2, std::vector<char>(65536));
  for (int i = 0; i < 2; ++i) {
    getcontext(&fibre_contexts[i]);
    fibre_contexts[i].uc_stack.ss_sp = stacks[i].data();
    fibre_contexts[i].uc_stack.ss_size = stacks[i].size();
    fibre_contexts[i].uc_link = &main_context;
    makecontext(&fibre_contexts[i], reinterpret_cast<void (*)()>(RunFibre), 1, i);
  }
  for (int round = 0; round <= 100; ++round) {
    swapcontext(&main_context, &fibre_contexts[0]);
    victim_noop();
    swapcontext(&main_context, &fibre_contexts[1]);
  }
  puts(fibre_log.c_str());
  return 0;
}

volatile sig_atomic_t signals_seen = 0;

void OnSignal(int) {
  signals_seen = signals_seen + 1;
  victim_noop();
  try {
    victim_throw(1);
  } catch (int) {
  }
}

int Signals() {  // a handler that re-enters measured APIs and throws inside, at about 10 kHz
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval timer = {{0, 100}, {0, 100}};
  setitimer(ITIMER_REAL, &timer, nullptr);
  constexpr uint64_t kMostCalls = 1'000'000'000;
  uint64_t calls = 0;
  for (; signals_seen < 2000 && calls < kMostCalls; ++calls) victim_noop();
  const itimerval none = {};
  setitimer(ITIMER_REAL, &none, nullptr);
  puts(calls > 0 && calls < kMostCalls ? "survived" : "?");
  return 0;
}

// Overwrites the memory below its caller, then calls from below that.
__attribute__((noinline)) void CallFromBelow() {
  volatile char covered[4096];
  for (volatile char& byte : covered) byte = 1;
  victim_noop();
}

int Below() {  // calls left by exceptions, each followed by one from further down the stack
  for (int i = 0; i < 1000; ++i) {
    try {
      victim_throw(1);
    } catch (int) {
    }
    CallFromBelow();
  }
  puts("survived");
  return 0;
}

void LeaveOne() {
  try {
    victim_throw(1);
  } catch (int) {
  }
}

// Most of a thread's records, but not all.
constexpr int kDepths = 40;

// Leaves a call at each of many depths, and then repeatedly at the lowest one.
void LeaveManyBelow(int depth) {
  volatile char room[256] = {};
  LeaveOne();
  if (depth > 0) LeaveManyBelow(depth - 1);
  for (int i = 0; depth == 0 && i < 20'000; ++i) LeaveOne();
  (void)room[0];  // prevents a tail call
}

// The number of reads that this process has made so far.
long Reads() {
  FILE* const file = fopen("/proc/self/io", "r");
  long reads = -1;
  if (file == nullptr || fscanf(file, "rchar: %*d wchar: %*d syscr: %ld", &reads) != 1) abort();
  fclose(file);
  return reads;
}

int Left() {
  const long before = Reads();
  LeaveManyBelow(kDepths);
  std::vector<char> stack(1 << 20);
  getcontext(&fibre_contexts[0]);
  fibre_contexts[0].uc_stack.ss_sp = stack.data();
  fibre_contexts[0].uc_stack.ss_size = stack.size();
  fibre_contexts[0].uc_link = &main_context;
  makecontext(&fibre_contexts[0], reinterpret_cast<void (*)()>(LeaveManyBelow), 1, kDepths);
  swapcontext(&main_context, &fibre_contexts[0]);
  const long reads = Reads() - before;
  puts(reads < 1000 ? "seldom" : "often");
  return 0;
}

int LeftLater() {  // the same, once frames may be restored
  void* const handle = dlopen("_greenlet.so", RTLD_NOW);
  if (handle == nullptr || dlsym(handle, "plugin_base") == nullptr) return 3;
  return Left();
}

int Fork() {
  for (int i = 0; i < 100; ++i) victim_noop();
  victim_call_back(
      [](void*) {
        const pid_t child = fork();
        if (child == 0) {  // comes back through the measured call, detached
          for (int i = 0; i < 50; ++i) victim_noop();
          free(victim_allocate(5));
          return;
        }
        int status = 0;
        waitpid(child, &status, 0);
        printf("child %d\n", WEXITSTATUS(status));
      },
      nullptr);
  for (int i = 0; i < 100; ++i) victim_noop();
  fflush(stdout);
  static const pid_t parent = getppid();
  return parent == getppid() ? 3 : 4;
}

int Backtrace() {
  victim_call_back(
      [](void*) {
        void* frames[64];
        const int count = backtrace(frames, 64);
        char** const names = backtrace_symbols(frames, count);
        bool reaches_main = false;
        for (int i = 0; i < count; ++i) {
          reaches_main = reaches_main || strstr(names[i], "libc.so.6") != nullptr;
        }
        free(names);
        printf("reaches the start of the program: %d\n", reaches_main);
      },
      nullptr);
  return 0;
}

int Errno() {
  errno = 77;
  victim_noop();
  victim_spin(10);
  printf("%d\n", errno);
  return 0;
}

int Die() {  // 1,000 calls, a line of output, then killed in the middle of the next call
  for (int i = 0; i < 1000; ++i) victim_noop();
  puts("ready");
  fflush(stdout);
  victim_call_back([](void*) { raise(SIGKILL); }, nullptr);
  return 0;
}

int Forever() {  // prints the number of completed calls after each, until it is killed
  char line[32];
  for (unsigned long i = 1;; ++i) {
    victim_noop();
    const int bytes = snprintf(line, sizeof line, "%lu\n", i);
    if (write(1, line, static_cast<size_t>(bytes)) != bytes) return 1;
  }
}

const struct {
  const char* name;
  int (*run)();
} kScenarios[] = {
    {"alloc", Alloc},         {"calls", Calls},           {"returns", ReturnClasses},
    {"vector", Vector},       {"exceptions", Exceptions}, {"uncaught", Uncaught},
    {"longjmp", LongJumps},   {"threads", Threads},       {"thread-exits", ThreadExits},
    {"fibres", Fibres},       {"signals", Signals},       {"fork", Fork},
    {"backtrace", Backtrace}, {"errno", Errno},           {"die", Die},
    {"forever", Forever},     {"names", Names},           {"below", Below},
    {"left", Left},           {"left-later", LeftLater},
};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& scenario : kScenarios) {
    if (argc > 1 && strcmp(argv[1], scenario.name) == 0) return scenario.run();
  }
  fprintf(stderr, "usage: victim SCENARIO\n");
  return 64;
}

// Programs in which threads, libraries, processes and frames come and go; one per run, like
// victim.cc.

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include "tests/victims/victim_library.h"

int main(int argc, char** argv);

// A debugger steps through the one measured call of this function; this is the middle of it.
extern "C" __attribute__((noinline)) void debugger_is_inside() { __asm__ volatile(""); }
extern "C" __attribute__((noinline)) void debugger_walks() {
  victim_call_back([](void*) { debugger_is_inside(); }, nullptr);
  __asm__ volatile("");
}

__asm__(".symver versioned_value_old, versioned_value@VERSION_1");
extern "C" int versioned_value_old();
extern "C" int versioned_value();

namespace {

int Reload() {  // a plugin 50 times, at the same address or at another one
  void* blocked = nullptr;
  for (int round = 0; round < 50; ++round) {
    // By the bare name: found through the program's own RUNPATH only.
    void* const plugin = dlopen("libvictim_plugin.so", round % 2 == 0 ? RTLD_LAZY : RTLD_NOW);
    if (plugin == nullptr) {
      puts(dlerror());
      return 1;
    }
    void* const symbol = dlsym(plugin, "plugin_run");
    const auto run = reinterpret_cast<int64_t (*)(int64_t)>(symbol);
    printf("%ld\n", static_cast<long>(run(20)));
    Dl_info found = {};
    if (dladdr(symbol, &found) == 0) return 2;
    dlclose(plugin);
    if (dlopen("libvictim_plugin.so", RTLD_LAZY | RTLD_NOLOAD) != nullptr) return 3;
    if (blocked != nullptr) munmap(blocked, 4096);
    blocked = nullptr;
    if (round % 3 == 0) {
      blocked = mmap(found.dli_fbase, 4096, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
      if (blocked == MAP_FAILED) blocked = nullptr;
    }
    for (int i = 0; i < 10; ++i) victim_noop();
  }
  return 0;
}

int Versions() {
  int sum = 0;
  for (int i = 0; i < 1000; ++i) sum += versioned_value_old() * 10000 + versioned_value();
  printf("%d\n", sum);
  return 0;
}

pthread_barrier_t round_begins;

void* CallOften(void*) {
  for (int round = 0; round < 20; ++round) {
    pthread_barrier_wait(&round_begins);
    for (int i = 0; i < 5000; ++i) victim_noop();
  }
  return nullptr;
}

int ForkInThreads() {  // while four threads are inside measured calls
  pthread_t threads[4];
  pthread_barrier_init(&round_begins, nullptr, 5);
  for (pthread_t& thread : threads) {
    if (pthread_create(&thread, nullptr, CallOften, nullptr) != 0) return 1;
  }
  int sum = 0;
  for (int i = 0; i < 20; ++i) {
    pthread_barrier_wait(&round_begins);
    victim_noop();
    const pid_t child = fork();
    if (child == 0) {
      for (int k = 0; k < 100; ++k) victim_noop();
      free(victim_allocate(11));
      int caught = 0;
      try {
        victim_throw(7);
      } catch (int value) {
        caught = value;
      }
      _exit(caught + i);
    }
    int status = 0;
    waitpid(child, &status, 0);
    sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
  }
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  printf("%d\n", sum);
  return 0;
}

pthread_key_t key;

struct CallsAtTheEnd {
  bool used = false;
  ~CallsAtTheEnd() {
    for (int i = 0; i < 3; ++i) victim_noop();
    free(victim_allocate(9));
  }
};
thread_local CallsAtTheEnd at_the_end;

int ThreadEnds() {  // destructors that run when the thread has nearly ended
  pthread_key_create(&key, [](void* left) {
    victim_noop();
    const auto rounds = reinterpret_cast<intptr_t>(left);
    if (rounds > 1) pthread_setspecific(key, reinterpret_cast<void*>(rounds - 1));
  });
  for (int i = 0; i < 500; ++i) {
    pthread_t thread;
    const auto run = [](void*) -> void* {
      at_the_end.used = true;
      pthread_setspecific(key, reinterpret_cast<void*>(3));
      victim_noop();
      return nullptr;
    };
    if (pthread_create(&thread, nullptr, run, nullptr) != 0) return 1;
    pthread_join(thread, nullptr);
  }
  puts("ended");
  return 0;
}

struct SaysGoodbye {
  ~SaysGoodbye() {
    victim_noop();
    puts("static destructor");
  }
} says_goodbye;

int ExitInside() {
  atexit([] {
    victim_noop();
    puts("at exit");
  });
  victim_call_back([](void*) { exit(21); }, nullptr);
  return 0;
}

int ReachMain() {
  victim_call_back(
      [](void*) {
        void* frames[64];
        const int count = backtrace(frames, 64);
        int at_main = 0;
        for (int i = 0; i < count; ++i) {
          void* const function = _Unwind_FindEnclosingFunction(static_cast<char*>(frames[i]) - 1);
          at_main += function == reinterpret_cast<void*>(main);
        }
        printf("main is met %d times\n", at_main);
      },
      nullptr);
  return 0;
}

int Deep() {
  printf("%lu\n", static_cast<unsigned long>(victim_recurse(60000)));
  return 0;
}

sigjmp_buf out_of_the_handler;

int SignalJumps() {  // a handler leaves measured calls, and itself, by siglongjmp
  struct sigaction action = {};
  action.sa_handler = [](int) { siglongjmp(out_of_the_handler, 1); };
  sigaction(SIGALRM, &action, nullptr);
  static volatile int jumps = 0;
  const itimerval timer = {{0, 0}, {0, 200}};
  const itimerval none = {};
  while (jumps < 500) {
    if (sigsetjmp(out_of_the_handler, 1) == 0) {
      setitimer(ITIMER_REAL, &timer, nullptr);
      constexpr int kMostRounds = 100'000'000;
      for (int round = 0; round < kMostRounds; ++round) {
        victim_noop();
        victim_spin(20);
        victim_call_back([](void*) { victim_noop(); }, nullptr);
      }
      return 1;  // the timer's signal has not arrived
    }
    jumps = jumps + 1;
  }
  setitimer(ITIMER_REAL, &none, nullptr);
  for (int i = 0; i < 1000; ++i) victim_noop();
  printf("%d\n", jumps);
  return 0;
}

int Debugged() {
  for (int i = 0; i < 3; ++i) victim_call_back([](void*) {}, nullptr);
  debugger_walks();
  puts("went on");
  return 0;
}

const struct {
  const char* name;
  int (*run)();
} kScenarios[] = {
    {"reload", Reload},
    {"versions", Versions},
    {"fork-in-threads", ForkInThreads},
    {"thread-ends", ThreadEnds},
    {"exit-inside", ExitInside},
    {"reach-main", ReachMain},
    {"deep", Deep},
    {"signal-jumps", SignalJumps},
    {"debugged", Debugged},
};

}  // namespace

int main(int argc, char** argv) {
  int result = 64;
  for (const auto& scenario : kScenarios) {
    if (argc > 1 && strcmp(argv[1], scenario.name) == 0) result = scenario.run();
  }
  if (result == 64) fprintf(stderr, "usage: lifetimes SCENARIO\n");
  return result;
}

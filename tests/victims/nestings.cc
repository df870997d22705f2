// Calls the twelve functions of nestings_library.h in patterns drawn from a seed, and prints
// how often each was called and which were on a stack together: "call K N" and "pair OUTER INNER".

#include "tests/victims/nestings_library.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>
#include <vector>

namespace {

// Uses the program's slots, which a function pointer would bypass.
void Call(unsigned function, NestBody body, void* argument) {
  switch (function) {
#define NEST_CASE(k)          \
  case k:                     \
    nest_##k(body, argument); \
    break;
    NEST_FUNCTIONS(NEST_CASE)
#undef NEST_CASE
    default:
      abort();
  }
}

// The next action of a body: up to two more calls, or an exit from all of them.
struct Walk {
  std::minstd_rand random;
  unsigned functions = kNestFunctions;  // the number to draw from
  unsigned levels = 6;
  bool throws = false;
  bool jumps = false;
  jmp_buf* back = nullptr;

  unsigned Draw(unsigned below) { return static_cast<unsigned>(random() >> 8) % below; }
};
struct Thrown {};

void Body(void* argument) {
  Walk& walk = *static_cast<Walk*>(argument);
  if (walk.levels == 0) return;
  if (walk.jumps && walk.Draw(8) == 0) longjmp(*walk.back, 1);
  if (walk.throws && walk.Draw(8) == 0) throw Thrown();
  --walk.levels;
  const unsigned calls = walk.Draw(3);
  for (unsigned i = 0; i < calls; ++i) {
    const unsigned function = walk.Draw(walk.functions);
    if (!walk.throws || walk.Draw(4) != 0) {
      Call(function, Body, &walk);
      continue;
    }
    const unsigned levels = walk.levels;
    try {
      Call(function, Body, &walk);
    } catch (const Thrown&) {
      walk.levels = levels;
    }
  }
  ++walk.levels;
}

// From one frame, so that a call after a jump has the address of the abandoned calls.
__attribute__((noinline)) void Trees(Walk walk, unsigned count) {
  jmp_buf back;
  walk.back = &back;
  const unsigned levels = walk.levels;
  for (volatile unsigned left = count; left > 0;) {
    left = left - 1;
    walk.levels = levels;
    nest::SetDepth(0);
    if (setjmp(back) != 0) continue;
    try {
      Call(walk.Draw(walk.functions), Body, &walk);
    } catch (const Thrown&) {
    }
  }
  nest::SetDepth(0);
}

void Print() {
  for (unsigned outer = 0; outer < kNestFunctions; ++outer) {
    if (nest::Calls(outer) != 0) {
      printf("call %u %llu\n", outer, static_cast<unsigned long long>(nest::Calls(outer)));
    }
    for (unsigned inner = 0; inner < kNestFunctions; ++inner) {
      if (nest::HasPair(outer, inner)) printf("pair %u %u\n", outer, inner);
    }
  }
}

constexpr unsigned kTrees = 40;

void Nothing(void*) {}

int Tree(unsigned seed) {
  Trees({.random = std::minstd_rand(seed + 1)}, kTrees);
  return 0;
}
int Throws(unsigned seed) {
  Trees({.random = std::minstd_rand(seed + 1), .throws = true}, kTrees);
  return 0;
}
int Jumps(unsigned seed) {
  Trees({.random = std::minstd_rand(seed + 1), .jumps = true}, kTrees);
  return 0;
}
int Threads(unsigned seed) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i) {
    threads.emplace_back(
        [=] { Trees({.random = std::minstd_rand(seed + 1 + i), .functions = 6}, kTrees / 4); });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

// Each level is the same function; deeper than the number of records.
void Down(void* argument) {
  auto& left = *static_cast<unsigned*>(argument);
  if (left-- > 0) nest_2(Down, argument);
}
int Recursion(unsigned) {
  unsigned left = 100;
  nest_2(Down, &left);
  return 0;
}
int DeepRecursion(unsigned) {
  unsigned left = 2000;
  nest_2(Down, &left);
  nest_3(Nothing, nullptr);
  return 0;
}

int Compare(const void* a, const void* b) {
  nest_4(Nothing, nullptr);
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}
int Sort(unsigned seed) {
  std::minstd_rand random(seed + 1);
  int values[64];
  for (int& value : values) value = static_cast<int>(random() % 1000);
  nest_5([](void* sorted) { qsort(sorted, 64, sizeof(int), Compare); }, values);
  return 0;
}

// A (nest_0) calls C (nest_2), B (nest_1) calls no function; each of them allocates.
void Allocate(void* bytes) {
  void* const made = malloc(reinterpret_cast<uintptr_t>(bytes));
  __asm__ volatile("" : : "r"(made) : "memory");
  free(made);
}
int Abc(unsigned) {
  for (int i = 0; i < 3; ++i) {
    nest_0(
        [](void*) {
          Allocate(reinterpret_cast<void*>(100));
          for (int j = 0; j < 5; ++j) nest_2(Allocate, reinterpret_cast<void*>(10));
        },
        nullptr);
  }
  for (int i = 0; i < 7; ++i) nest_1(Allocate, reinterpret_cast<void*>(1000));
  return 0;
}

int Aliases(unsigned) {
  int sum = 0;
  for (int i = 0; i < 5; ++i) sum += nest_one_name(i);
  for (int i = 0; i < 7; ++i) sum += nest_other_name(i);
  printf("%d\n", sum);
  return 0;
}

int TailThrows(unsigned) {
  int caught = 0;
  for (int i = 0; i < 100; ++i) {
    try {
      switch (i % 4) {
        case 0:
          nest_tail_11(i);
          break;
        case 1:
          nest_tail_10(i);
          break;
        case 2:
          nest_tail_7(i);
          break;
        default:
          nest_tail_1(i);
      }
    } catch (int value) {
      caught += value;
    }
  }
  printf("caught %d\n", caught);
  return caught == 4950 ? 0 : 1;
}

int Killed(unsigned seed) {
  Tree(seed);
  nest_6([](void*) { nest_7([](void*) { kill(getpid(), SIGKILL); }, nullptr); }, nullptr);
  return 0;
}

// All alive at the same time, or one after the other.
int ManyThreads(unsigned count) {
  pthread_barrier_t all;
  pthread_barrier_init(&all, nullptr, count);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      pthread_barrier_wait(&all);
      for (int j = 0; j < 100; ++j) nest_0(Nothing, nullptr);
      pthread_barrier_wait(&all);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}
int ThreadsInTurn(unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    std::thread([] {
      for (int j = 0; j < 100; ++j) nest_0(Nothing, nullptr);
    }).join();
  }
  return 0;
}

const char* own_path;

// For each kind, a child that executes this program again.
int Family(unsigned seed) {
  char number[16];
  snprintf(number, sizeof number, "%u", seed);
  fflush(stdout);
  for (int i = 0; i < 3; ++i) {
    const pid_t child = i == 0 ? vfork() : fork();
    if (child == 0) {
      execl(own_path, own_path, "tree", number, static_cast<char*>(nullptr));
      _exit(1);
    }
    waitpid(child, nullptr, 0);
  }
  return Tree(seed);
}

// Differs in each run: the seed is the number of runs so far, counted in a file of that directory.
// Its output and its plan are copied to that directory.
void CopyFile(const char* from, const char* to) {
  FILE* const read = fopen(from, "r");
  FILE* const write = fopen(to, "w");
  for (int byte = getc(read); byte != EOF; byte = getc(read)) putc(byte, write);
  fclose(read);
  fclose(write);
}
int Fickle(const char* directory, unsigned period) {
  char path[512];
  snprintf(path, sizeof path, "%s/count", directory);
  unsigned run = 0;
  if (FILE* const count = fopen(path, "r")) {
    if (fscanf(count, "%u", &run) != 1) return 1;
    fclose(count);
  }
  FILE* const count = fopen(path, "w");
  fprintf(count, "%u\n", run + 1);
  fclose(count);
  Trees({.random = std::minstd_rand(run % period + 1),
         .functions = 1 + run % period % kNestFunctions,
         .levels = 3},
        6);
  char copy[512];
  if (const char* const lab = getenv("FIELDCOST_LAB_DIR")) {
    snprintf(path, sizeof path, "%s/plan", lab);
    snprintf(copy, sizeof copy, "%s/plan.%u", directory, run);
    CopyFile(path, copy);
  }
  snprintf(path, sizeof path, "%s/did.%u", directory, run);
  return freopen(path, "w", stdout) == nullptr ? 1 : 0;
}

struct Scenario {
  const char* name;
  int (*run)(unsigned seed);
};
constexpr Scenario kScenarios[] = {{"tree", Tree},
                                   {"throws", Throws},
                                   {"jumps", Jumps},
                                   {"threads", Threads},
                                   {"recursion", Recursion},
                                   {"deep-recursion", DeepRecursion},
                                   {"sort", Sort},
                                   {"abc", Abc},
                                   {"aliases", Aliases},
                                   {"tail-throws", TailThrows},
                                   {"killed", Killed},
                                   {"many-threads", ManyThreads},
                                   {"threads-in-turn", ThreadsInTurn},
                                   {"family", Family}};

}  // namespace

int main(int argc, char** argv) {
  own_path = argv[0];
  int status = 64;
  if (argc == 4 && strcmp(argv[1], "fickle") == 0) {
    status = Fickle(argv[2], static_cast<unsigned>(atoi(argv[3])));
  }
  for (const Scenario& scenario : kScenarios) {
    if (argc != 3 || strcmp(scenario.name, argv[1]) != 0) continue;
    status = scenario.run(static_cast<unsigned>(atoi(argv[2])));
  }
  if (status == 64) fprintf(stderr, "usage: nestings SCENARIO SEED | fickle DIRECTORY PERIOD\n");
  Print();
  return status;
}

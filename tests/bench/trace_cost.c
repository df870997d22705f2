// The cost of reporting each call or each block: CPU ns per event, the minimum of several rounds.
//   trace_cost DEPTH           functions that call each of eight others, DEPTH levels deep: 8^DEPTH
//                              paths and some more
//   trace_cost DEPTH random    the same, but each function calls one of them at random
//   trace_cost                 blocks of a loop
// It is built plainly; with -finstrument-functions (using the trace library's hooks or, with
// RAW_LOG, those below, which write each event to a log); with -pg for uftrace; and with
// -fsanitize-coverage=trace-pc.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <x86intrin.h>

#define QUIET __attribute__((no_instrument_function, no_sanitize_coverage))

typedef void Step(int left);
static Step* const kSteps[8];
static volatile long sink;
static int at_random;
static uint64_t state = 1;

QUIET static inline uint64_t Random(void) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return state >> 40;
}

#define STEP(n)                                              \
  static __attribute__((noinline)) void step_##n(int left) { \
    sink = sink + n;                                         \
    if (left == 0) return;                                   \
    if (at_random) {                                         \
      kSteps[Random() % 8](left - 1);                        \
      return;                                                \
    }                                                        \
    for (int i = 0; i < 8; ++i) kSteps[i](left - 1);         \
  }
STEP(0)
STEP(1)
STEP(2)
STEP(3)
STEP(4)
STEP(5)
STEP(6)
STEP(7)
static Step* const kSteps[8] = {step_0, step_1, step_2, step_3, step_4, step_5, step_6, step_7};

#ifdef RAW_LOG
struct Event {
  uint64_t ticks;
  void* function;
};
// A real log exceeds the caches, so whenever this buffer is full, use fresh memory.
static const size_t kLogBytes = 64 << 20;
static struct Event* next;
static struct Event* end;
QUIET static __attribute__((noinline)) void MakeRoom(void) {
  if (end != NULL) munmap((char*)end - kLogBytes, kLogBytes);
  void* const made =
      mmap(NULL, kLogBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) abort();
  next = made;
  end = next + kLogBytes / sizeof(struct Event);
}
QUIET static inline void Write(void* function) {
  if (next == end) MakeRoom();
  *next++ = (struct Event){__rdtsc(), function};
}
QUIET void __cyg_profile_func_enter(void* function, void* site) {
  (void)site;
  Write(function);
}
QUIET void __cyg_profile_func_exit(void* function, void* site) {
  (void)site;
  Write((char*)function + 1);
}
#endif

static __attribute__((noinline)) void blocks(long count) {
  for (long i = 0; i < count; ++i) {
    if (i % 2 == 0) {
      sink = sink + 1;
    } else {
      sink = sink - 1;
    }
  }
}

QUIET static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

QUIET int main(int count, char** arguments) {
  const int depth = count > 1 ? atoi(arguments[1]) : 0;
  at_random = count > 2;
  double best = 1e18;
  for (int round = 0; round < 9; ++round) {
    long done = 0;
    const double begin = Now();
    if (count > 1) {
      long calls = 1;
      for (int i = 0; i < depth; ++i) calls = (at_random ? 1 : 8) * calls + 1;
      while (done < 200000) {
        kSteps[at_random ? Random() % 8 : 0](depth);
        done += calls;
      }
    } else {
      done = 1000000;
      blocks(done / 3);  // three blocks per iteration
    }
    const double each = (Now() - begin) / (double)done;
    if (each < best) best = each;
  }
  printf("%.2f\n", best);
  return 0;
}

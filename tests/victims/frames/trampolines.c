// An interpreter that gives each of its functions its own code, like `python -X perf`: a
// trampoline that calls the interpreter and returns, with a line in /tmp/perf-PID.map, and neither
// a frame pointer nor call frame information. outer() calls middle(), and that inner(), which burns
// 300 ms of CPU time.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { kFunctions = 3, kBytesOfEach = 64, kPageBytes = 4096 };

// sub $8,%rsp; call *%rcx; add $8,%rsp; ret
static const unsigned char kTrampoline[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
                                            0x48, 0x83, 0xc4, 0x08, 0xc3};
static const char* const kNames[kFunctions] = {"outer", "middle", "inner"};

typedef int64_t (*Interpreter)(int64_t function, int64_t unused1, int64_t unused2,
                               void* interpreter);

static unsigned char* code;

__attribute__((noinline)) static int64_t Spend(void) {
  struct timespec now;
  int64_t loops = 0;
  do {
    for (volatile int i = 0; i < 10000; ++i) ++loops;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  } while (now.tv_sec == 0 && now.tv_nsec < 300000000);
  return loops;
}

static int64_t Interpret(int64_t function, int64_t unused1, int64_t unused2, void* interpreter) {
  (void)unused1;
  (void)unused2;
  if (function + 1 == kFunctions) return Spend();
  Interpreter next = (Interpreter)(void*)(code + (function + 1) * kBytesOfEach);
  return next(function + 1, 0, 0, interpreter) + 1;
}

int main(void) {
  code = mmap(NULL, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED) return 1;
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  FILE* map = fopen(path, "w");
  if (map == NULL) return 1;
  for (int i = 0; i < kFunctions; ++i) {
    memcpy(code + i * kBytesOfEach, kTrampoline, sizeof kTrampoline);
    fprintf(map, "%lx %x py::%s:/app.py\n", (unsigned long)(code + i * kBytesOfEach),
            (unsigned)kBytesOfEach, kNames[i]);
  }
  fclose(map);
  if (mprotect(code, kPageBytes, PROT_READ | PROT_EXEC) != 0) return 1;
  Interpreter first = (Interpreter)(void*)code;
  const int64_t result = first(0, 0, 0, (void*)Interpret);
  return result > 0 ? 0 : 1;
}

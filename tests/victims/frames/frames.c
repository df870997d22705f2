// Every shape that a stack takes in C, one after the other. A tracer may follow each instruction from the
// first one on. Before the innermost function of each shape it stops itself (SIGSTOP) if it has an argument.

#include <alloca.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static int stops;
static volatile unsigned sink;

NOINLINE static void look(unsigned value) {
  sink += value;
  if (stops != 0) kill(getpid(), SIGSTOP);
}

NOINLINE static unsigned recurse(unsigned depth) {
  if (depth == 0) {
    look(1);
    return 1;
  }
  volatile unsigned below = recurse(depth - 1);  // else it becomes a loop
  return below * 3 + depth;
}

// The frame's size is known at run time only.
NOINLINE static unsigned variable_frame(unsigned bytes) {
  char* memory = alloca(bytes);
  memset(memory, 7, bytes);
  look((unsigned char)memory[bytes / 2]);
  return (unsigned char)memory[bytes - 1];
}

// The stack pointer is rounded down: the frame is found through a saved register.
NOINLINE static unsigned realigned_frame(unsigned value) {
  _Alignas(128) volatile unsigned char block[256];
  block[value % sizeof block] = (unsigned char)value;
  look(block[value % sizeof block]);
  return variable_frame(value + 100) + block[0];
}

NOINLINE static unsigned tail_called(unsigned value) {
  look(value);
  return value + 1;
}
NOINLINE static unsigned tail_caller(unsigned value) { return tail_called(value * 2); }

// Large enough for a probe of each page, and many values to keep across a call.
NOINLINE static unsigned busy_frame(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f,
                                    unsigned g, unsigned h) {
  volatile char block[12000];
  block[a] = (char)b;
  const unsigned before = a * b + c * d + e * f + g * h;
  look(before);
  const unsigned other = tail_caller(before) + a + b + c + d + e + f + g + h;
  return other + (unsigned)block[a];
}

static int compare(const void* left, const void* right) {
  const unsigned a = *(const unsigned*)left;
  const unsigned b = *(const unsigned*)right;
  if (a == 5) look(a);
  return a < b ? -1 : a > b;
}

// A function of the C library calls back.
NOINLINE static unsigned called_back(void) {
  unsigned values[] = {5, 3, 9, 1};
  qsort(values, sizeof values / sizeof *values, sizeof *values, compare);
  return values[0];
}

static void handle(int number) { sink += recurse((unsigned)number % 3); }

NOINLINE static unsigned interrupted(int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handle;
  action.sa_flags = flags;
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  return sink;
}

NOINLINE static unsigned on_other_stack(void) {
  static char memory[64 * 1024];
  const stack_t other = {.ss_sp = memory, .ss_flags = 0, .ss_size = sizeof memory};
  const stack_t none = {.ss_sp = NULL, .ss_flags = SS_DISABLE, .ss_size = 0};
  sigaltstack(&other, NULL);
  const unsigned result = interrupted(SA_ONSTACK);
  sigaltstack(&none, NULL);
  return result;
}

int main(int argc, char** argv) {
  (void)argv;
  stops = argc > 1;
  unsigned result = recurse(12);
  result += variable_frame(1000);
  result += realigned_frame(17);
  result += busy_frame(1, 2, 3, 4, 5, 6, 7, 8);
  result += called_back();
  result += interrupted(0);
  result += on_other_stack();
  char* memory = strdup("calls through slots");
  result += (unsigned)strlen(memory);
  free(memory);
  return result == 0;
}

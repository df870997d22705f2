// Waits, or lets the kernel work, at the end of a known chain of calls:
//   waits sleep ROUNDS     20 ms each
//   waits naps ROUNDS      50 us each
//   waits pauses ROUNDS    2.5 s each
//   waits once             30 ms once in each of eight functions, waits_once_1 to waits_once_8
//   waits kernel ROUNDS    1 MiB of zeros each
//   waits exit ROUNDS      as many children that do nothing, one after the other
//   waits input            for the end of its input, while a thread works; prints "ready", "done"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned sink;
static volatile int is_over;

NOINLINE static void waits_innermost(void) {
  const struct timespec span = {0, 20 * 1000 * 1000};
  nanosleep(&span, NULL);
  sink += 1;
}
NOINLINE static void waits_outer(unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) waits_innermost();
  sink += 1;
}

NOINLINE static void waits_nap(void) {
  const struct timespec span = {0, 50 * 1000};
  nanosleep(&span, NULL);
  sink += 1;
}
NOINLINE static void waits_pause(void) {
  const struct timespec span = {2, 500 * 1000 * 1000};
  nanosleep(&span, NULL);
  sink += 1;
}

#define ONCE(number)                                    \
  NOINLINE static void waits_once_##number(void) {      \
    const struct timespec span = {0, 30 * 1000 * 1000}; \
    nanosleep(&span, NULL);                             \
    sink += number;                                     \
  }
ONCE(1)
ONCE(2)
ONCE(3)
ONCE(4)
ONCE(5)
ONCE(6)
ONCE(7)
ONCE(8)
NOINLINE static void waits_once(void) {
  waits_once_1();
  waits_once_2();
  waits_once_3();
  waits_once_4();
  waits_once_5();
  waits_once_6();
  waits_once_7();
  waits_once_8();
  sink += 1;
}

NOINLINE static void waits_for_kernel(unsigned rounds) {
  static char block[1 << 20];
  const int zero = open("/dev/zero", O_RDONLY);
  for (unsigned i = 0; i < rounds; ++i) {
    if (read(zero, block, sizeof block) != sizeof block) exit(1);
  }
  close(zero);
}

NOINLINE static void waits_for_children(unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
  }
}

NOINLINE static void* waits_burn(void* nothing) {
  while (!is_over) sink = sink * 1664525 + 1013904223;
  return nothing;
}
NOINLINE static void waits_for_input(void) {
  char byte;
  while (read(0, &byte, 1) > 0) sink += 1;
  sink += 1;
}
NOINLINE static int waits_beside_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, waits_burn, NULL) != 0) return 1;
  puts("ready");
  fflush(stdout);
  waits_for_input();
  is_over = 1;
  pthread_join(thread, NULL);
  puts("done");
  return 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
  if (strcmp(what, "sleep") == 0) waits_outer(rounds);
  for (unsigned i = 0; i < rounds && strcmp(what, "naps") == 0; ++i) waits_nap();
  for (unsigned i = 0; i < rounds && strcmp(what, "pauses") == 0; ++i) waits_pause();
  if (strcmp(what, "once") == 0) waits_once();
  if (strcmp(what, "kernel") == 0) waits_for_kernel(rounds);
  if (strcmp(what, "exit") == 0) waits_for_children(rounds);
  if (strcmp(what, "input") == 0) return waits_beside_thread();
  return 0;
}

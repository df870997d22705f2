// Spends CPU time at the end of a known chain of calls, and in a child: burn ROUNDS.

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned sink;

NOINLINE static void burn_innermost(unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) sink = sink * 1664525 + 1013904223;
}
NOINLINE static void burn_middle(unsigned rounds) {
  // More than a copy of 16 KiB can hold.
  volatile char block[40000];
  block[0] = 1;
  burn_innermost(rounds);
  sink += (unsigned)block[0];
}
NOINLINE static void burn_outer(unsigned rounds) {
  burn_middle(rounds);
  sink += 1;
}
NOINLINE static void burn_in_child(unsigned rounds) {
  const pid_t child = fork();
  if (child == 0) {
    burn_innermost(rounds);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

int main(int argc, char** argv) {
  const unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1000;
  burn_outer(rounds);
  burn_in_child(rounds);
  return 0;
}

// Calls bench_target COUNT times in a tight loop and prints the CPU ms:  loop COUNT
// It imports few functions, so that a random pick soon chooses that one.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void bench_target(void);

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1;
  for (long i = 0; i < count; ++i) bench_target();
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  printf("%.3f\n", (double)used.tv_sec * 1e3 + (double)used.tv_nsec / 1e6);
  return 0;
}

// Built with coverage callbacks: its branches are known.

#include <stdio.h>
#include <stdlib.h>

static volatile long sum;

__attribute__((noinline)) static void even(void) { sum = sum + 2; }
__attribute__((noinline)) static void odd(void) { sum = sum - 1; }

int main(void) {
  for (int i = 0; i < 1000; ++i) {
    if (i % 4 == 0) {
      even();
    } else {
      odd();
    }
  }
  void* volatile block = malloc(12345);
  free(block);
  printf("%ld\n", sum);
  return 0;
}

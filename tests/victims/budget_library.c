#include "tests/victims/budget_library.h"

#include <stdlib.h>
#include <time.h>

static unsigned long calls;

static void Spend(long ms) {
  struct timespec start;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

// Blocks that are kept: each begins with the address of the previous one.
static void* kept;

static void Keep(size_t size) {
  void** const block = malloc(size);
  if (block == NULL) abort();
  *block = kept;
  kept = block;
}

static void Append(unsigned long value) {
  static unsigned long* values;
  static size_t size;
  static size_t room;
  if (size == room) {
    room = room == 0 ? 4 : 2 * room;
    values = realloc(values, room * sizeof *values);
    if (values == NULL) abort();
  }
  values[size++] = value;
}

unsigned long budget_work(enum BudgetMode mode) {
  ++calls;
  if (mode == kBudgetSlow && calls % 20 == 0) Spend(4);
  if (mode == kBudgetAllocating) {
    void* volatile block = malloc(64);
    free(block);
  }
  if (mode == kBudgetLeaking) Keep(48);
  if (mode == kBudgetAppending) Append(calls);
  if (mode == kBudgetCaching && calls <= 5) Keep(1000);
  return calls;
}

// Calls budget_work() CALLS times; MODE plants a violation of its budget.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/victims/budget_library.h"

static const char* const names[] = {"plain",   "slow",      "allocating",
                                    "leaking", "appending", "caching"};

static enum BudgetMode ModeOf(const char* text) {
  unsigned mode = 0;
  while (strcmp(text, names[mode]) != 0) {
    if (++mode == sizeof names / sizeof *names) exit(64);
  }
  return (enum BudgetMode)mode;
}

int main(int count, char** arguments) {
  if (count != 3) return 64;
  unsigned long sum = 0;
  for (long i = strtol(arguments[1], NULL, 10); i > 0; --i)
    sum += budget_work(ModeOf(arguments[2]));
  printf("%lu\n", sum);
  return 0;
}

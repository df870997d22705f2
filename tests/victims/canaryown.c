// A user's own program with its own library. Calls one function of the library ten times, and
// the other only if there is an argument. Ends by a signal if the argument is "abort".

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int canaryown_work(int value);
int canaryown_idle(void);

int main(int argc, char** argv) {
  int value = argc > 1 ? canaryown_idle() : 0;
  for (int i = 0; i < 10; ++i) value = canaryown_work(value);
  printf("%d\n", value);
  fflush(stdout);
  if (argc > 1 && strcmp(argv[1], "abort") == 0) abort();
  return 3;
}

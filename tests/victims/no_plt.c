// Calls each function of its library in a different way, and prints whether every address that it
// obtains is the one from dlsym. With an argument: calls a library loaded by dlopen.

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/victims/no_plt_library.h"

typedef int (*Function)(int value);

// The compiler must neither merge nor remove the calls.
#define NO_PLT_APART __attribute__((noinline, noclone))

static Function in_data = no_plt_in_data;  // a word that the loader fills in
static Function stored;

NO_PLT_APART static int Call(int value) { return no_plt_called(value) - 1; }
NO_PLT_APART static int Jump(int value) { return no_plt_jumped_to(value); }
NO_PLT_APART static int IsCompared(Function other) { return other == no_plt_compared; }
NO_PLT_APART static void Store(void) { stored = no_plt_stored; }
NO_PLT_APART static int CallPassed(Function function, int value) { return function(value); }
NO_PLT_APART static Function Pass(Function function) { return function; }

static Function Found(const char* name) {
  void* const address = dlsym(RTLD_DEFAULT, name);
  Function function = NULL;
  memcpy(&function, &address, sizeof address);
  return function;
}

static int CallPlugin(const char* path) {
  void* const library = dlopen(path, RTLD_NOW);
  if (library == NULL) return 1;
  void* const address = dlsym(library, "no_plt_plugin");
  if (address == NULL) return 1;
  Function function = NULL;
  memcpy(&function, &address, sizeof address);
  printf("plugin %d\n", function(1));
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 1) return CallPlugin(argv[1]);
  int sum = 0;
  for (int i = 0; i < 5; ++i) sum += Call(i);
  for (int i = 0; i < 3; ++i) sum += Jump(i);
  sum += no_plt_compared(sum);
  sum += no_plt_stored(sum);
  sum += no_plt_passed(sum);
  sum += no_plt_in_data(sum);
  Store();
  const Function passed = Pass(no_plt_passed);
  sum += CallPassed(passed, sum) + CallPassed(Pass(no_plt_only_pointed_to), sum);
  printf("sum %d\n", sum);
  printf("compared %d\n", IsCompared(Found("no_plt_compared")));
  printf("stored %d\n", stored == Found("no_plt_stored"));
  printf("passed %d\n", passed == Found("no_plt_passed"));
  printf("in data %d\n", in_data == Found("no_plt_in_data"));
  return 0;
}

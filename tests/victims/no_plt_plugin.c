// Loaded by dlopen, and built without a PLT.

#include "tests/victims/no_plt_library.h"

int no_plt_plugin(int value);
int no_plt_plugin(int value) {
  for (int i = 0; i < 4; ++i) value = no_plt_called(value);
  return value;
}

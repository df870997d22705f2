// Calls a function with an ordinary name, and one whose name is too long to be measured.
#include "tests/victims/long_named_library.h"

int main(void) {
  long_named_short();
  long_named_long();
  return 0;
}

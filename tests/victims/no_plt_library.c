#include "tests/victims/no_plt_library.h"

int no_plt_called(int value) { return value + 1; }
int no_plt_jumped_to(int value) { return value + 2; }
int no_plt_compared(int value) { return value + 3; }
int no_plt_stored(int value) { return value + 4; }
int no_plt_passed(int value) { return value + 5; }
int no_plt_in_data(int value) { return value + 6; }
int no_plt_only_pointed_to(int value) { return value + 7; }

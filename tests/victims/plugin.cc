// A library that lifetimes.cc loads and unloads while calls to and from it are measured.

#include <stdlib.h>
#include <string.h>

#include "tests/victims/victim_library.h"

VICTIM_API int64_t plugin_base(int64_t value);

VICTIM_API int64_t plugin_run(int64_t rounds) {
  int64_t sum = 0;
  for (int64_t i = 0; i < rounds; ++i) {
    sum += plugin_base(i);
    victim_call_back([](void* to) { *static_cast<int64_t*>(to) += 1; }, &sum);
    try {
      victim_throw(3);
    } catch (int value) {
      sum += value;
    }
    char text[32];
    memset(text, 'p', sizeof text);
    text[i % 31] = '\0';
    sum += static_cast<int64_t>(strlen(text)) + atoi("17");
  }
  return sum;
}

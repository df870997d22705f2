// A library whose function shares its name with those of similar libraries, and calls it as other
// libraries do: through a slot. Built several times, each with its own NAMESAKE_VALUE.

#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

API int namesake_value(void) { return NAMESAKE_VALUE; }

API int namesake_run(void) {
  int sum = 0;
  for (int i = 0; i < 100; ++i) {
    char* const text = malloc(3000);
    if (text == NULL) return -1;
    memset(text, 'a', 2999);
    text[2999] = '\0';
    sum += namesake_value() + (strlen(text) == 2999 ? 0 : 1000000);
    free(text);
  }
  return sum;
}

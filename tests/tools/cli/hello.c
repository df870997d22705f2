// Prints whether the measuring library is loaded.
#include <stdio.h>
#include <string.h>

int main(void) {
  char line[8192];
  const char* answer = "without";
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return 1;
  while (fgets(line, sizeof line, maps) != NULL) {
    if (strstr(line, "libfieldcost_preload.so") != NULL) answer = "with";
  }
  fclose(maps);
  printf("%s\n", answer);
  return 0;
}

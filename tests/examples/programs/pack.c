// Calls zlib a known number of times: `pack N [FILE]` compresses the file's bytes, or a text, N
// times; `parse FILE`, the same program, compresses and restores the file's bytes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static unsigned char text[100000];
static unsigned char packed[200000];
static unsigned char restored[100000];

int main(int count, char** arguments) {
  FILE* file = count > 1 ? fopen(arguments[count - 1], "rb") : NULL;
  unsigned long size = sizeof text;
  memset(text, 'x', sizeof text);
  if (file != NULL) size = fread(text, 1, sizeof text, file);
  const int times = count > 1 && atoi(arguments[1]) > 0 ? atoi(arguments[1]) : 1;
  unsigned long packed_size = 0;
  for (int i = 0; i < times; ++i) {
    packed_size = sizeof packed;
    if (compress2(packed, &packed_size, text, size, 6) != Z_OK) return 1;
  }
  unsigned long restored_size = sizeof restored;
  if (uncompress(restored, &restored_size, packed, packed_size) != Z_OK) return 1;
  printf("%lu bytes, packed %d times\n", restored_size, times);
  return 0;
}

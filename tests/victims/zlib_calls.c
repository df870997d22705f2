// Calls a function of zlib, compress2 or adler32, CALLS times with BYTES bytes, nine times in ten
// from Often(), else from Rarely(), there with RARE_BYTES, if given: how long a call takes is the
// user's choice. zlib's adler32 ends by calling another function, so that it is never on the stack.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static unsigned char* bytes;
static unsigned char* packed;
static unsigned length;
static unsigned rare_length;
static unsigned long (*function)(void);

static unsigned long Pack(void) {
  unsigned long size = compressBound(length);
  if (compress2(packed, &size, bytes, length, 1) != Z_OK) abort();
  return size;
}

static unsigned long Sum(void) { return adler32(1, bytes, length) + 1; }

__attribute__((noinline)) static unsigned long Often(void) { return function() + 1; }

__attribute__((noinline)) static unsigned long Rarely(void) {
  const unsigned often = length;
  length = rare_length;
  const unsigned long result = function() + 2;
  length = often;
  return result;
}

int main(int count, char** arguments) {
  if (count != 4 && count != 5) return 64;
  function = strcmp(arguments[1], "adler32") == 0 ? Sum : Pack;
  const unsigned long calls = strtoul(arguments[2], NULL, 10);
  length = (unsigned)strtoul(arguments[3], NULL, 10);
  rare_length = count == 5 ? (unsigned)strtoul(arguments[4], NULL, 10) : length;
  const unsigned most = rare_length > length ? rare_length : length;
  bytes = calloc(most, 1);
  packed = malloc(compressBound(most));
  unsigned long result = 0;
  for (unsigned long i = 0; i < calls; ++i) result += i % 10 == 0 ? Rarely() : Often();
  printf("%lu\n", result);
  free(packed);
  free(bytes);
  return 0;
}

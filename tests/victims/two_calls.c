// Calls exactly two functions of zlib; with POINTER, also crc32, through a pointer.

#include <zlib.h>

#ifdef POINTER
static unsigned long (*volatile sum)(unsigned long, const unsigned char*, unsigned) = crc32;
#endif

int main(void) {
#ifdef POINTER
  if (sum(0, (const unsigned char*)"a", 1) == 0) return 1;
#endif
  return zlibVersion()[0] == 0 || compressBound(100) < 100;
}

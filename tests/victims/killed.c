// Calls until it is killed, and counts each call in a file that it shares with its test: before
// and after the call.

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/victims/tally_library.h"

struct Counts {
  uint64_t begun;
  uint64_t over;
};

int main(int argc, char** argv) {
  const int fd = argc == 2 ? open(argv[1], O_RDWR) : -1;
  if (fd < 0) {
    fprintf(stderr, "usage: killed FILE\n");
    return 64;
  }
  struct Counts* const counts =
      mmap(NULL, sizeof(struct Counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (counts == MAP_FAILED) return 1;
  alarm(60);
  for (;;) {
    __atomic_fetch_add(&counts->begun, 1, __ATOMIC_SEQ_CST);
    tally_always();
    __atomic_fetch_add(&counts->over, 1, __ATOMIC_SEQ_CST);
  }
}

// A program with known costs, built in pairs: with SLOWER, digest() does four times the work, in
// four times the calls and bytes; with RENAMED, parse(char*) is called parse(text) and takes three
// times as long.
//
//   app             parses, digests and compresses for some 100 ms
//   app SECONDS     loads in the first third, serves from 77 % to 94 %, parses otherwise: of 15.5 s
//                   until 5 s, and from 12 s to 14.5 s. It waits most of the time
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#define APART __attribute__((noinline))

static volatile unsigned long sum;
static char line[4096];
struct text {
  char* begin;
};

// Part of each function that calls it, so that its cost is that function's own.
__attribute__((always_inline, no_instrument_function)) static inline void mix(const char* bytes,
                                                                              int times) {
  unsigned long local = sum;
  for (int i = 0; i < times; ++i) {
    for (int k = 0; k < 4096; ++k) local = local * 31 + bytes[k];
  }
  sum = local;
}

#ifdef RENAMED
APART static void parse(text part) { mix(part.begin, 600); }
#else
APART static void parse(char* part) { mix(part, 200); }
#endif

APART static void parse_line() {
#ifdef RENAMED
  parse(text{line});
#else
  parse(line);
#endif
}

APART static void digest_part() {
  char* part = static_cast<char*>(malloc(4096));
  memcpy(part, line, sizeof line);
  mix(part, 200);
  free(part);
}

APART static void digest() {
#ifdef SLOWER
  for (int i = 0; i < 4; ++i) digest_part();
#else
  digest_part();
#endif
}

APART static void pack() {
  static unsigned char packed[8192];
  unsigned long size = sizeof packed;
  compress(packed, &size, reinterpret_cast<unsigned char*>(line), sizeof line);
  sum = sum + size;
}

APART static void load_index() { mix(line, 2000); }
APART static void serve_request() { mix(line, 2000); }

APART static double seconds_since(const timespec& start) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec - start.tv_sec + (now.tv_nsec - start.tv_nsec) * 1e-9;
}

static void run_for(double seconds) {
  timespec start;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (double at = 0; at < seconds; at = seconds_since(start)) {
    digest();
    const double share = at * 15.5 / seconds;
    if (share < 5) {
      load_index();
    } else if (share >= 12 && share < 14.5) {
      serve_request();
    } else {
      parse_line();
    }
    const timespec pause = {0, static_cast<long>(seconds * 6'000'000)};
    nanosleep(&pause, nullptr);
  }
}

int main(int count, char** arguments) {
  memset(line, 'x', sizeof line);
  if (count > 1 && atof(arguments[1]) > 0) {
    run_for(atof(arguments[1]));
    return 0;
  }
  for (int i = 0; i < 60; ++i) {
    parse_line();
    digest();
    pack();
  }
  return 0;
}

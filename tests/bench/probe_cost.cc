// The cost of a probe point: the median ns that it adds to one pass of a loop, over alternating
// rounds with and without it. While being recorded, the program itself releases its ring's space
// between rounds, so that every round starts with the same ring.
//
//   probe_cost point|event|value|call ROUNDS PASSES    `call`: a function to probe from outside

#include <dirent.h>
#include <fcntl.h>
#include <fieldcost/probe.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "common/shm/probe_file.h"

extern "C" __attribute__((noinline)) void probe_cost_target() { __asm__ volatile(""); }

namespace {

using fieldcost::shm::ProbeRing;

double now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Opens the file that the library created for this process; returns -1 if nothing records.
int open_rings() {
  const char* const directory = getenv(fieldcost::shm::kProbeDirectoryVariable);
  DIR* const listed = directory == nullptr ? nullptr : opendir(directory);
  int fd = -1;
  while (const dirent* entry = listed == nullptr ? nullptr : readdir(listed)) {
    const std::string path = std::string(directory) + "/" + entry->d_name;
    if (path.ends_with(fieldcost::shm::kProbeFileSuffix)) fd = open(path.c_str(), O_RDWR);
  }
  if (listed != nullptr) closedir(listed);
  return fd;
}

void give_back(int fd) {
  ProbeRing ring{};
  const auto at = static_cast<off_t>(fieldcost::shm::ProbeRingsOffset());
  if (fd < 0 || pread(fd, &ring, sizeof ring, at) != sizeof ring) return;
  if (ring.dropped != 0) exit(3);
  const auto blocks = static_cast<uint8_t>(ring.head / fieldcost::shm::kProbeBlockBytes);
  if (pwrite(fd, &blocks, 1, at + static_cast<off_t>(offsetof(ProbeRing, given_back))) != 1)
    exit(4);
}

// Some work, equal in all variants, so that the loop is not empty.
#define PASSES(count, what)                              \
  uint64_t x = 1;                                        \
  for (uint64_t i = 0; i < (count); ++i) {               \
    x = x * 6364136223846793005U + 1442695040888963407U; \
    __asm__ volatile("" : "+r"(x));                      \
    what                                                 \
  }

__attribute__((noinline)) void pass_bare(uint64_t count) { PASSES(count, ) }
__attribute__((noinline)) void pass_point(uint64_t count) {
  PASSES(count, FIELDCOST_POINT("point");)
}
__attribute__((noinline)) void pass_event(uint64_t count) {
  PASSES(count, FIELDCOST_EVENT(event, "event");)
}
__attribute__((noinline)) void pass_value(uint64_t count) {
  PASSES(count, FIELDCOST_POINT_VALUE("value", i);)
}
__attribute__((noinline)) void pass_call(uint64_t count) { PASSES(count, probe_cost_target();) }

double ns_of(void (*loop)(uint64_t), uint64_t count) {
  const double begin = now_ns();
  loop(count);
  return (now_ns() - begin) / static_cast<double>(count);
}

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Runs as deep in the stack as real programs do: there is more stack than is copied.
__attribute__((noinline)) int measure(void (*loop)(uint64_t), int rounds, uint64_t count) {
  volatile char depth[8192];
  depth[0] = 0;
  const int rings = open_rings();
  std::vector<double> with;
  std::vector<double> without;
  loop(1);
  for (int i = 0; i < rounds; ++i) {
    give_back(rings);
    with.push_back(ns_of(loop, count));
    without.push_back(ns_of(pass_bare, count));
  }
  printf("%.3f\n", median(with) - median(without));
  return depth[0];
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 64;
  const std::string what = arguments[1];
  auto* const loop = what == "point"   ? pass_point
                     : what == "event" ? pass_event
                     : what == "value" ? pass_value
                                       : pass_call;
  return measure(loop, atoi(arguments[2]), strtoull(arguments[3], nullptr, 10));
}

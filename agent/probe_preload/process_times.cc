#include "agent/probe_preload/process_times.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>

#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::probe_preload {
namespace {

using intercept::SystemCall;

uint64_t ClockNs(uint64_t clock) {
  timespec now = {};
  SystemCall(SYS_clock_gettime, clock, reinterpret_cast<uint64_t>(&now));
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

uint64_t UnixNs() { return ClockNs(CLOCK_REALTIME); }
uint64_t MonotonicNs() { return ClockNs(CLOCK_MONOTONIC); }
uint64_t BootNs() { return ClockNs(CLOCK_BOOTTIME); }

uint64_t ProcessStartBootNs() {
  static const char kStat[] = "/proc/self/stat";
  constexpr uint64_t kNsOfTick = 10'000'000;  // USER_HZ is 100
  constexpr int kStartField = 22;             // "starttime"; the third follows the name's ')'
  char text[1024];
  const int64_t fd = SystemCall(SYS_open, reinterpret_cast<uint64_t>(kStat), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const int64_t size = SystemCall(SYS_read, static_cast<uint64_t>(fd),
                                  reinterpret_cast<uint64_t>(text), sizeof text - 1);
  SystemCall(SYS_close, static_cast<uint64_t>(fd));
  if (size <= 0) return 0;
  text[size] = '\0';
  int64_t at = size;
  while (at > 0 && text[at] != ')') --at;
  for (int field = 2; field < kStartField && text[at] != '\0'; ++at) {
    if (text[at] == ' ') ++field;
  }
  uint64_t ticks = 0;
  for (; text[at] >= '0' && text[at] <= '9'; ++at) {
    ticks = ticks * 10 + static_cast<uint64_t>(text[at] - '0');
  }
  return ticks * kNsOfTick;
}

uint64_t TicksOfNs(uint64_t ns, uint64_t multiplier) {
  if (multiplier == 0) return ns;
  const uint64_t high = ns >> 32;
  if (high >= multiplier) return 0;  // too far to be told
  uint64_t ticks;
  uint64_t rest;
  __asm__("divq %4" : "=a"(ticks), "=d"(rest) : "a"(ns << 32), "d"(high), "r"(multiplier) : "cc");
  return ticks;
}

}  // namespace fieldcost::probe_preload

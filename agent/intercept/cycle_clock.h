#pragma once

// Reads clocks and converts ticks of the time stamp counter. `ticks_to_ns` is 32.32 fixed point.

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::intercept {

// Returns a clock's time in ns, by system call: libc's function may use vector registers and errno.
inline uint64_t ReadClock(clockid_t clock) {
  timespec now = {};
  SystemCall(SYS_clock_gettime, static_cast<uint64_t>(clock), reinterpret_cast<uint64_t>(&now));
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

inline uint64_t UnixNanoseconds() { return ReadClock(CLOCK_REALTIME); }

// Rounds to the nearest.
inline uint64_t NanosecondsOf(uint64_t ticks, uint64_t ticks_to_ns) {
  __extension__ using Wide = unsigned __int128;
  constexpr uint64_t kHalf = uint64_t{1} << 31;
  return static_cast<uint64_t>((Wide{ticks} * ticks_to_ns + kHalf) >> 32);
}

inline constexpr uint32_t kPicosecondsPerNanosecond = 1000;

// Saturates at 4 ms, the maximum of 32 bits.
inline uint32_t PicosecondsOf(uint64_t ticks, uint64_t ticks_to_ns) {
  __extension__ using Wide = unsigned __int128;
  const Wide ps = (Wide{ticks} * kPicosecondsPerNanosecond * ticks_to_ns) >> 32;
  return ps > ~uint32_t{0} ? ~uint32_t{0} : static_cast<uint32_t>(ps);
}

// Returns 0 if the result does not fit 64 bits. (There is no library for 128-bit division here.)
inline uint64_t TicksOf(uint64_t ns, uint64_t ticks_to_ns) {
  uint64_t ticks = ns / ticks_to_ns;
  uint64_t rest = ns % ticks_to_ns;
  if (ticks >> 32 != 0) return 0;
  for (int bit = 0; bit < 32; ++bit) {
    ticks <<= 1;
    rest <<= 1;
    if (rest >= ticks_to_ns) {
      rest -= ticks_to_ns;
      ticks |= 1;
    }
  }
  return ticks;
}

}  // namespace fieldcost::intercept

#pragma once

// What the preload library needs of this architecture beside the thunks: the time stamp counter,
// the thread pointer, raw system calls (errno stays as it was, no cancellation point, no libc code
// that could touch vector registers), and an atomic step that only signals can interrupt.

#include <stdint.h>

namespace fieldcost::preload {

inline uint64_t ReadTimeStamp() {
  uint32_t low;
  uint32_t high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
  return (uint64_t{high} << 32) | low;
}

// The address of this thread's control block.
inline uint64_t ThreadPointer() {
  uint64_t pointer;
  __asm__("movq %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

inline uint64_t StackPointer() {
  uint64_t pointer;
  __asm__ volatile("movq %%rsp, %0" : "=r"(pointer));
  return pointer;
}

// Linux system call; the result is -errno on failure.
inline int64_t SystemCall(int64_t number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0,
                          uint64_t d = 0) {
  int64_t result;
  register uint64_t r10 __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return result;
}

// Sets *word from 0 to 1; true if it was 0. Indivisible for signal handlers on this thread (one
// instruction), not for other threads: no bus lock.
inline bool TakeOnThisThread(uint32_t* word) {
  uint32_t expected = 0;
  bool taken;
  __asm__ volatile("cmpxchgl %3, %1"
                   : "+a"(expected), "+m"(*word), "=@cce"(taken)
                   : "r"(1U)
                   : "memory");
  return taken;
}

}  // namespace fieldcost::preload

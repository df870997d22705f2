#pragma once

// Architecture-specific code besides the thunks: the relocations that calls go through, the size of
// a page, the time stamp counter, the thread pointer, the vector registers, raw system calls (which
// preserve errno, are no cancellation points, and run no libc code that could touch vector
// registers), and an atomic operation that only signals can interrupt.

#include <elf.h>
#include <stdint.h>
#include <sys/syscall.h>

namespace fieldcost::intercept {

// Relocations of slots: for calls, and for function pointers and -fno-plt calls.
inline constexpr uint32_t kCallSlot = R_X86_64_JUMP_SLOT;
inline constexpr uint32_t kDataSlot = R_X86_64_GLOB_DAT;
// Relocations of data: a word that holds an address, and a variable that the program has a copy of.
inline constexpr uint32_t kAddressWord = R_X86_64_64;
inline constexpr uint32_t kVariableCopy = R_X86_64_COPY;

inline constexpr uint64_t kPageBytes = 4096;

inline constexpr uint64_t PageOf(uint64_t address) { return address & ~(kPageBytes - 1); }
inline constexpr uint64_t PageEndAfter(uint64_t address) {
  return PageOf(address + kPageBytes - 1);
}

inline uint64_t ReadTimeStamp() {
  uint32_t low;
  uint32_t high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
  return (uint64_t{high} << 32) | low;
}

// The same, after everything before it has completed.
inline uint64_t ReadTimeStampWhenDone() {
  uint32_t low;
  uint32_t high;
  __asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high)::"memory");
  return (uint64_t{high} << 32) | low;
}

// The same, after everything before it has completed and before anything after it begins.
inline uint64_t ReadTimeStampInOrder() {
  uint32_t low;
  uint32_t high;
  __asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high)::"memory");
  return (uint64_t{high} << 32) | low;
}

// Returns the i-th integer argument of a call that a thunk intercepts. The thunk has saved it below
// the call's return address.
template <typename Word>
Word& ArgumentAt(Word* return_slot, uint32_t i) {
  return return_slot[-1 - int64_t{i}];
}

// Returns the address of this thread's control block.
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

// Fast for large and small sizes, and without vector registers.
inline void CopyBytes(void* to, const void* from, uint64_t bytes) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
}
inline void CopyWords(void* to, const void* from, uint64_t words) {
  __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words)::"memory");
}
inline void FillBytes(void* to, uint8_t value, uint64_t bytes) {
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
}

// Makes a Linux system call; returns -errno on failure.
inline int64_t SystemCall(int64_t number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0,
                          uint64_t d = 0, uint64_t e = 0, uint64_t f = 0) {
  int64_t result;
  register uint64_t r10 __asm__("r10") = d;
  register uint64_t r8 __asm__("r8") = e;
  register uint64_t r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

// System calls that some architectures only have in another form. Return -errno on failure.
inline int64_t OpenFile(const char* path, int flags) {
  return SystemCall(SYS_open, reinterpret_cast<uint64_t>(path), static_cast<uint64_t>(flags));
}
inline int64_t ReadLink(const char* path, char* to, uint64_t bytes) {
  return SystemCall(SYS_readlink, reinterpret_cast<uint64_t>(path), reinterpret_cast<uint64_t>(to),
                    bytes);
}

// Sets *word from 0 to 1; returns true if it was 0. Atomic with respect to signal handlers on this
// thread (one instruction), but not to other threads: no bus lock.
inline bool TakeOnThisThread(uint32_t* word) {
  uint32_t expected = 0;
  bool taken;
  __asm__ volatile("cmpxchgl %3, %1"
                   : "+a"(expected), "+m"(*word), "=@cce"(taken)
                   : "r"(1U)
                   : "memory");
  return taken;
}

// Replaces *word if it has the expected value; returns whether it did. Atomic with respect to
// signal handlers on this thread, but not to other threads.
inline bool ReplaceOnThisThread(uint64_t* word, uint64_t expected, uint64_t desired) {
  bool replaced;
  __asm__ volatile("cmpxchgq %3, %1"
                   : "+a"(expected), "+m"(*word), "=@cce"(replaced)
                   : "r"(desired)
                   : "memory");
  return replaced;
}

// Preserves the vector and floating point registers, which may hold a call's arguments and results,
// while functions that may use them are called. The buffer must not be in use by another instance.
inline constexpr uint64_t kVectorStateBytes = 4096;
class VectorState {
 public:
  explicit VectorState(void* buffer) : buffer_(buffer) {
    __asm__ volatile("xsave64 (%0)" : : "r"(buffer_), "a"(kComponents), "d"(0) : "memory");
  }
  ~VectorState() {
    __asm__ volatile("xrstor64 (%0)" : : "r"(buffer_), "a"(kComponents), "d"(0) : "memory");
  }
  VectorState(const VectorState&) = delete;
  VectorState& operator=(const VectorState&) = delete;

  // Returns whether this processor and system support it (cpuid 1, OSXSAVE).
  static bool IsSupported() {
    uint32_t a = 1;
    uint32_t b;
    uint32_t c = 0;
    uint32_t d;
    __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return (c & (1U << 27)) != 0;
  }

 private:
  static constexpr uint32_t kComponents = 0xe7;  // x87, SSE, AVX, AVX-512
  void* buffer_;
};

}  // namespace fieldcost::intercept

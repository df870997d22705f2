#include "agent/intercept/alloc_wrappers.h"

#include "agent/intercept/hooks.h"

// Counts bytes as requested (calloc: the product; realloc: the new size), and only if the call
// succeeded. Nothing here touches errno: it stays as the real function set it.

namespace fieldcost::intercept {
namespace {

uint64_t real_malloc;
uint64_t real_calloc;
uint64_t real_realloc;
uint64_t real_reallocarray;
uint64_t real_memalign;
uint64_t real_aligned_alloc;
uint64_t real_posix_memalign;
uint64_t real_valloc;
uint64_t real_pvalloc;

template <typename Function>
Function* Real(uint64_t address) {
  return reinterpret_cast<Function*>(address);
}

inline void Count(const void* block, size_t bytes, const void* caller) {
  if (block != nullptr) OnAllocation(block, bytes, reinterpret_cast<uint64_t>(caller));
}

void* Malloc(size_t size) {
  void* const made = Real<void*(size_t)>(real_malloc)(size);
  Count(made, size, __builtin_return_address(0));
  return made;
}

void* Calloc(size_t count, size_t size) {
  void* const made = Real<void*(size_t, size_t)>(real_calloc)(count, size);
  Count(made, count * size, __builtin_return_address(0));
  return made;
}

// Frees the old block, too. With size 0 it frees the block and returns none.
void* Realloc(void* old, size_t size) {
  const size_t freed = old != nullptr ? SizeOfBlock(old) : 0;
  void* const made = Real<void*(void*, size_t)>(real_realloc)(old, size);
  if (old != nullptr && (made != nullptr || size == 0)) OnFree(freed);
  Count(made, size, __builtin_return_address(0));
  return made;
}

// glibc's reallocarray calls realloc through its own slot, which leads to our wrapper: it would be
// counted twice.
void* ReallocArray(void* old, size_t count, size_t size) {
  const auto real = Real<void*(void*, size_t, size_t)>(real_reallocarray);
  const bool stopped = StopCountingAllocations();
  void* const made = real(old, count, size);
  if (stopped) CountAllocationsAgain();
  Count(made, count * size, __builtin_return_address(0));
  return made;
}

void* MemAlign(size_t alignment, size_t size) {
  void* const made = Real<void*(size_t, size_t)>(real_memalign)(alignment, size);
  Count(made, size, __builtin_return_address(0));
  return made;
}

void* AlignedAlloc(size_t alignment, size_t size) {
  void* const made = Real<void*(size_t, size_t)>(real_aligned_alloc)(alignment, size);
  Count(made, size, __builtin_return_address(0));
  return made;
}

int PosixMemAlign(void** result, size_t alignment, size_t size) {
  const int error = Real<int(void**, size_t, size_t)>(real_posix_memalign)(result, alignment, size);
  Count(error == 0 ? *result : nullptr, size, __builtin_return_address(0));
  return error;
}

void* Valloc(size_t size) {
  void* const made = Real<void*(size_t)>(real_valloc)(size);
  Count(made, size, __builtin_return_address(0));
  return made;
}

void* PValloc(size_t size) {
  void* const made = Real<void*(size_t)>(real_pvalloc)(size);
  Count(made, size, __builtin_return_address(0));
  return made;
}

}  // namespace

const WrappedFunction kAllocFunctions[kAllocFunctionCount] = {
    {"malloc", reinterpret_cast<uint64_t>(&Malloc), &real_malloc},
    {"calloc", reinterpret_cast<uint64_t>(&Calloc), &real_calloc},
    {"realloc", reinterpret_cast<uint64_t>(&Realloc), &real_realloc},
    {"reallocarray", reinterpret_cast<uint64_t>(&ReallocArray), &real_reallocarray},
    {"memalign", reinterpret_cast<uint64_t>(&MemAlign), &real_memalign},
    {"aligned_alloc", reinterpret_cast<uint64_t>(&AlignedAlloc), &real_aligned_alloc},
    {"posix_memalign", reinterpret_cast<uint64_t>(&PosixMemAlign), &real_posix_memalign},
    {"valloc", reinterpret_cast<uint64_t>(&Valloc), &real_valloc},
    {"pvalloc", reinterpret_cast<uint64_t>(&PValloc), &real_pvalloc},
};

bool IsAllocWrapper(uint64_t address) {
  for (const WrappedFunction& function : kAllocFunctions) {
    if (function.wrapper == address) return true;
  }
  return false;
}

}  // namespace fieldcost::intercept

#include "agent/preload/alloc_meter.h"

#include "agent/preload/measuring.h"

// Bytes count as asked for (calloc: the product; realloc: the new size), and only if the call
// succeeded. errno is whatever the real function left: nothing here touches it.

namespace fieldcost::preload {
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

// True if the measured call was left by longjmp or an exception, and nobody has noticed yet: our
// frame is above where it was, or the thunk's return address is no longer there. Only the thread's
// own stack is looked at: other stacks may be gone.
bool IsOver(const ThreadState* thread, const Record* record) {
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  const uint64_t place = record->stack_pointer;
  if (here < thread->stack_begin || here >= thread->stack_end) return false;
  if (place < thread->stack_begin || place >= thread->stack_end) return false;
  return place < here || *reinterpret_cast<const uint64_t*>(place) !=
                             reinterpret_cast<uint64_t>(intercept::fieldcost_thunk_return);
}

__attribute__((noinline)) void CountMeasured(ThreadState* thread, size_t bytes, uint64_t caller) {
  const Record* const record = thread->active;
  if (IsOver(thread, record)) return;
  const PickState& pick = process.picks[PickOf(*record)];
  thread->allocated_inclusive += bytes;
  // A function that ends in `return malloc(n)` has left its frame: the caller is then our thunk.
  if ((caller >= pick.code_begin && caller < pick.code_end) ||
      caller == reinterpret_cast<uint64_t>(intercept::fieldcost_thunk_return)) {
    thread->allocated_exclusive += bytes;
  }
  shm::Cell* const cells = CellsOf(thread, PickOf(*record));
  if (cells == nullptr) return;
  NoMeasuring guard(thread, thread->active, thread->active);
  AddToCell(cells + process.alloc_index + 2, bytes, record->weight_log2);
}

inline void Count(bool succeeded, size_t bytes, const void* caller) {
  if (!succeeded || !IsAttached()) return;
  ThreadState* const thread = fieldcost_current_thread;
  if (thread == nullptr || thread->active == nullptr || IsBusy(thread->active)) return;
  CountMeasured(thread, bytes, reinterpret_cast<uint64_t>(caller));
}

void* Malloc(size_t size) {
  void* const made = Real<void*(size_t)>(real_malloc)(size);
  Count(made != nullptr, size, __builtin_return_address(0));
  return made;
}

void* Calloc(size_t count, size_t size) {
  void* const made = Real<void*(size_t, size_t)>(real_calloc)(count, size);
  Count(made != nullptr, count * size, __builtin_return_address(0));
  return made;
}

void* Realloc(void* old, size_t size) {
  void* const made = Real<void*(void*, size_t)>(real_realloc)(old, size);
  Count(made != nullptr, size, __builtin_return_address(0));
  return made;
}

// glibc's calls realloc through its own slot, which is ours: without the guard it would count
// twice.
void* ReallocArray(void* old, size_t count, size_t size) {
  const auto real = Real<void*(void*, size_t, size_t)>(real_reallocarray);
  ThreadState* const thread = fieldcost_current_thread;
  if (thread == nullptr || thread->active == nullptr) return real(old, count, size);
  void* made;
  {
    NoMeasuring guard(thread, thread->active, thread->active);
    made = real(old, count, size);
  }
  Count(made != nullptr, count * size, __builtin_return_address(0));
  return made;
}

void* MemAlign(size_t alignment, size_t size) {
  void* const made = Real<void*(size_t, size_t)>(real_memalign)(alignment, size);
  Count(made != nullptr, size, __builtin_return_address(0));
  return made;
}

void* AlignedAlloc(size_t alignment, size_t size) {
  void* const made = Real<void*(size_t, size_t)>(real_aligned_alloc)(alignment, size);
  Count(made != nullptr, size, __builtin_return_address(0));
  return made;
}

int PosixMemAlign(void** result, size_t alignment, size_t size) {
  const int error = Real<int(void**, size_t, size_t)>(real_posix_memalign)(result, alignment, size);
  Count(error == 0, size, __builtin_return_address(0));
  return error;
}

void* Valloc(size_t size) {
  void* const made = Real<void*(size_t)>(real_valloc)(size);
  Count(made != nullptr, size, __builtin_return_address(0));
  return made;
}

void* PValloc(size_t size) {
  void* const made = Real<void*(size_t)>(real_pvalloc)(size);
  Count(made != nullptr, size, __builtin_return_address(0));
  return made;
}

}  // namespace

const intercept::WrappedFunction kAllocFunctions[kAllocFunctionCount] = {
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

}  // namespace fieldcost::preload

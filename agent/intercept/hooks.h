#pragma once

#include <stddef.h>
#include <stdint.h>

namespace fieldcost::intercept {

// Functions that the library using this folder must implement: its reactions to noticed calls
// (notice.h) and to bytes. They run inside the host's call, before the function; several threads
// may run any of them concurrently.

// The process is about to enter a sandbox, where system calls or reading the time may be fatal: it
// must be left alone from now on.
void OnSandbox();

// The program looks up a symbol by this dlopen handle, whose owner keeps it loaded meanwhile.
void OnLibraryLoaded(void* handle);

// A library loaded by dlopen may be unloaded: afterwards no slot in it may be patched, and nothing
// of it may be read.
void OnLibraryMayGo();

// The program has allocated this block of that many bytes from the code at
// `caller` (alloc_wrappers.h).
void OnAllocation(const void* block, size_t bytes, uint64_t caller);

// The size of a block that the program is about to free, for OnFree(); 0 if it
// is unknown, or if nothing is counted.
size_t SizeOfBlock(const void* block);

// The program frees, or realloc has freed, a block of that size. Called only
// for functions whose wrappers are installed (block_size.h).
void OnFree(size_t bytes);

// Stop and resume the counting of this thread's allocations while one function of the family calls
// another. The second is called only if the first returned true.
bool StopCountingAllocations();
void CountAllocationsAgain();

// The program has moved that many bytes between descriptors, or, where one of them is kNoFile, from
// or to memory (io_wrappers.h).
inline constexpr int kNoFile = -1;
void OnTransfer(int from, int to, uint64_t bytes);

// Called after a library has mapped this descriptor. If it is a file, bytes of calls that end from
// now on are not measured, for these reasons (shm::NotMeasured; see map_wrappers.h).
void OnFileMapped(int fd, uint32_t reasons);

// The program is about to wait; called only occasionally.
void OnWait();

}  // namespace fieldcost::intercept

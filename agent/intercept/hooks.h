#pragma once

#include <stddef.h>
#include <stdint.h>

namespace fieldcost::intercept {

// What the library that uses this folder must implement: the few things that only it knows, and
// what it does when a function is called that is noticed (notice.h). The latter are called in the
// host's call, before the function; any thread may be in any of them at the same time.

// The function that the thunk of this index stands in front of now, or that function's wrapper.
uint64_t TargetOfThunk(uint32_t thunk);

// The process is about to enter a sandbox, in which system calls or reading the time may be deadly:
// it is to be left alone from now on.
void OnSandbox();

// The program asks for a symbol by this handle of dlopen, which its owner keeps loaded meanwhile.
void OnLibraryLoaded(void* handle);

// Something that dlopen brought may go: afterwards no slot in it may be ours, and nothing of it may
// be read.
void OnLibraryMayGo();

// The program has allocated that much, from the place in its code where `caller` is
// (alloc_wrappers.h).
void OnAllocation(size_t bytes, uint64_t caller);

// Stop and resume the counting of this thread's allocations while one function of the family calls
// another. The second is called only if the first returned true.
bool StopCountingAllocations();
void CountAllocationsAgain();

// The program has moved that many bytes from one descriptor to another, or, where one of them is
// kNoFile, from or to memory (io_wrappers.h).
inline constexpr int kNoFile = -1;
void OnTransfer(int from, int to, uint64_t bytes);

// Called after a library has mapped this descriptor. If it is a file, bytes of calls that end from
// now on are not measured, for these reasons (shm::NotMeasured; see map_wrappers.h).
void OnFileMapped(int fd, uint32_t reasons);

// The program is about to wait; called once in a while.
void OnWait();

}  // namespace fieldcost::intercept

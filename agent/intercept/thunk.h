#pragma once

// The contract between x86_64/machine_thunk.S and the library that uses it: the layout that the
// thunk assumes for the user's structures (the user asserts it with offsetof), the values that it
// passes to the user, and the symbols that the user provides. The assembler reads the upper part.
//
// The user provides these symbols, all hidden:
//   fieldcost_thunk_enter(uint32_t what, const uint64_t* return_slot)
//     Called before a call, unless the thread's first record is prepared for it (FIELDCOST_RECORD_
//     USUAL). `what` is the thunk's index, perhaps with kSampledFlag, or kNoticeFlag and a notice;
//     *return_slot holds the caller's return address. Returns in rax the record for measuring the
//     call, or null to leave it unmeasured, and in rdx the function to continue with.
//   fieldcost_thunk_exit(Record* record, uint64_t end_ticks)
//     Called after a measured call; releases the record. `end_ticks` is 0 if the process has been
//     detached meanwhile: the time stamp was not read.
//   fieldcost_process
//     Begins with kThunkCount entries of FIELDCOST_TARGET_ENTRY_BYTES, each of which begins with
//     the address of the function that the thunk of that index intercepts.
//   __thread Thread* fieldcost_current_thread
//     The thread's state, whose active record is null while nothing is measured; or null.
//   __thread shm::CallCounter* fieldcost_counters
//     The thread's counters of calls through sampling stubs, one per thunk.
// Libraries with FIELDCOST_EVERY_CALL do not use the last two, and are called for every call; they
// provide instead:
//   uint32_t fieldcost_takes_time
//     0: no time stamps are taken; then `end_ticks` is 1.
// The thunk also reads fieldcost_attached (host.h).
// All of it runs inside other people's functions: no libc call, no vector register, no errno.

// Number of stubs of each kind per library, and their distance in bytes. With FIELDCOST_EVERY_CALL
// (the libraries of the lab and of event trees) there are stubs for all functions that a program
// calls, and each call leads to the library; none is sampled.
#ifdef FIELDCOST_EVERY_CALL
#define FIELDCOST_THUNK_COUNT 16384
#define FIELDCOST_SAMPLING_STUB_COUNT 0
#define FIELDCOST_MAX_PATCHED_SLOTS 131072
#else
#define FIELDCOST_THUNK_COUNT 512
#define FIELDCOST_SAMPLING_STUB_COUNT FIELDCOST_THUNK_COUNT
#define FIELDCOST_MAX_PATCHED_SLOTS 16384
#endif
#define FIELDCOST_STUB_BYTES 16
#define FIELDCOST_SAMPLING_STUB_BYTES 64
#define FIELDCOST_NOTICE_STUB_BYTES 64

// Functions that are noticed: the first few at every call, the others only occasionally.
#define FIELDCOST_NOTICE_COUNT 24
#define FIELDCOST_RARE_NOTICE_COUNT 5

// Functions that move bytes without a call that is intercepted: how many use files, sockets, and
// both; the distance in bytes between their stubs; the bits that a stub sets in the thread's word
// of hidden I/O.
#define FIELDCOST_HIDDEN_DISK_COUNT 206
#define FIELDCOST_HIDDEN_NET_COUNT 18
#define FIELDCOST_HIDDEN_BOTH_COUNT 59
#define FIELDCOST_HIDDEN_STUB_BYTES 16
#define FIELDCOST_HIDDEN_DISK_BIT 1
#define FIELDCOST_HIDDEN_NET_BIT 8
#define FIELDCOST_HIDDEN_BOTH_BITS 9

// A stub's argument: a thunk's index, or one of these flags and another value.
#define FIELDCOST_SAMPLED_FLAG 0x10000
#define FIELDCOST_NOTICE_FLAG 0x20000

// Offsets in a record. It saves the caller's value of the register in which its address travels.
#define FIELDCOST_RECORD_RETURN_ADDRESS 0
#define FIELDCOST_RECORD_SAVED_REGISTER 8
#define FIELDCOST_RECORD_TARGET 16
#define FIELDCOST_RECORD_STACK_POINTER 24
#define FIELDCOST_RECORD_START_TICKS 32
#ifdef FIELDCOST_EVERY_CALL
#define FIELDCOST_RECORD_FRAME_ID 40
#endif
#define FIELDCOST_RECORD_IN_USE 40
// The argument of the stub whose calls the record is prepared for; the thunk then takes it itself.
#define FIELDCOST_RECORD_USUAL 44

// Offsets in a thread's state: the pointer to its active record, and its first record.
#define FIELDCOST_THREAD_ACTIVE 0
#define FIELDCOST_THREAD_RECORDS 16

#define FIELDCOST_TARGET_ENTRY_BYTES 64

#ifndef __ASSEMBLER__

#include <stdint.h>

namespace fieldcost::intercept {

inline constexpr uint32_t kThunkCount = FIELDCOST_THUNK_COUNT;
inline constexpr uint32_t kSamplingStubCount = FIELDCOST_SAMPLING_STUB_COUNT;
inline constexpr uint32_t kSampledFlag = FIELDCOST_SAMPLED_FLAG;  // its gap has run out
inline constexpr uint32_t kNoticeFlag = FIELDCOST_NOTICE_FLAG;    // noticed only: see notice.h

extern "C" {
// The address that measured functions return to.
extern __attribute__((visibility("hidden"))) const char fieldcost_thunk_return[];

extern __attribute__((visibility("hidden"))) const char fieldcost_stubs[];
extern __attribute__((visibility("hidden"))) const char fieldcost_sampling_stubs[];
extern __attribute__((visibility("hidden"))) const char fieldcost_notice_stubs[];
extern __attribute__((visibility("hidden"))) const char fieldcost_hidden_stubs[];

// Used for calibration: a function that does nothing, and one of known duration, since each of its
// multiplications depends on the previous one, even across calls.
__attribute__((visibility("hidden"))) uint64_t fieldcost_empty_function(uint64_t value);
__attribute__((visibility("hidden"))) uint64_t fieldcost_known_function(uint64_t value);
}

// The result of fieldcost_thunk_enter.
struct Entry {
  void* record;  // null: the call is not measured
  uint64_t target;
};

inline uint64_t ThunkReturn() { return reinterpret_cast<uint64_t>(fieldcost_thunk_return); }

// Returns whether the call with this return slot is a tail call made by a measured function.
inline bool IsTailCall(const uint64_t* return_slot) { return *return_slot == ThunkReturn(); }

// Return the addresses that the slots of a function with this thunk may hold.
inline uint64_t StubOf(uint32_t thunk) {
  return reinterpret_cast<uint64_t>(fieldcost_stubs) + uint64_t{thunk} * FIELDCOST_STUB_BYTES;
}
inline uint64_t SamplingStubOf(uint32_t thunk) {
  return reinterpret_cast<uint64_t>(fieldcost_sampling_stubs) +
         uint64_t{thunk} * FIELDCOST_SAMPLING_STUB_BYTES;
}

}  // namespace fieldcost::intercept

#endif

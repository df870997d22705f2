#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/mappings.h"
#include "agent/intercept/thread_slots.h"
#include "agent/intercept/thunk.h"
#include "agent/probe_preload/probe_process.h"

namespace fieldcost::probe_preload {

inline constexpr uint32_t kOpenEvents = 64;  // maximum number of a thread's known open events
inline constexpr uint32_t kNumbersAtOnce = 64;

struct OpenEvent {
  shm::ProbeEventId id;
  uint32_t site;  // number of the site that began it
  uint32_t reserved;
};

// One thread's ring and current activity. Rings outlive their thread and are taken over by a later
// one.
struct ThreadState {
  uint64_t head;       // same as the ring's
  uint64_t tail;       // position up to which the reader has released space, as far as known
  uint64_t limit;      // position that `head` may reach before more space is requested
  uint64_t origin;     // position of the first byte of `data`
  uint64_t size;       // of `data`, a power of two
  uint8_t* data;       // the ring's, or its area's
  uint64_t populated;  // how many bytes of `data` are populated
  shm::ProbeRing* ring;
  uint64_t sequence;
  uint64_t busy_at;  // stack address of the hit that is being written; 0: none
  uint32_t tid;
  uint32_t owner_tid;           // 0 = never used; a dead thread's id = free
  intercept::StackRange stack;  // its own
  uint64_t next_number;         // next free event number, up to `end_number`
  uint64_t end_number;
  Record* records;
  Record* innermost;  // of the calls in progress
  uint32_t lowest_free;
  uint32_t open_count;
  OpenEvent open[kOpenEvents];
  char scratch[4096];  // for reading /proc/self/maps
};

// A thread's own state. If its epoch differs from the process's, the rest dates from before fork().
struct Current {
  ThreadState* thread;
  uint32_t epoch;        // of the ring; 0: no ring
  uint32_t asked_epoch;  // epoch in which no ring was available
  intercept::SlotBackoff backoff;
};
extern "C" __attribute__((visibility("hidden"))) __thread Current fieldcost_current;

// Whether a child of fork() opens its own run for a hit: only if the program itself requested the
// hit.
enum class Asks : uint8_t { kNo, kYes };

// Attaches a child of fork() and takes a ring. Returns null if none is left or points are off.
ThreadState* TakeRing(Asks asks);

inline ThreadState* CurrentThread(Asks asks) {
  const Current& current = fieldcost_current;
  return __builtin_expect(current.epoch == Attached() && current.epoch != 0, 1) ? current.thread
                                                                                : TakeRing(asks);
}

// Returns true if a hit at `here` interrupts another one; false if the other one was abandoned by a
// signal handler that jumped out of it.
bool Interrupts(const ThreadState* thread, uint64_t here);

}  // namespace fieldcost::probe_preload

#pragma once

// What a measured call writes, inline; its rare parts are in thread_state.h. Runs inside handlers:
// no libc call, no vector register, no lock.

#include <stdint.h>

#include "agent/preload/thread_state.h"
#include "common/shm/cell_writer.h"

namespace fieldcost::preload {

using shm::AddToCell;

// The thread goes on without its active measurement, `record`.
inline void Abandon(ThreadState* thread, Record* record) {
  record->superseded = 1;
  record->usual = kNoPick;  // so that neither end of it takes the short way
  ++record->cells->abandoned;
  if (IsSampled(*record)) ++record->cells->sampled;
  thread->active = nullptr;
}

// Says of the pick that these bytes could not be counted. Any thread, at any time.
inline void AddNotMeasured(shm::Pick* pick, uint32_t reasons) {
  if ((reasons & ~__atomic_load_n(&pick->not_measured, __ATOMIC_RELAXED)) == 0) return;
  __atomic_fetch_or(&pick->not_measured, reasons, __ATOMIC_RELAXED);
}

// While this lives, calls on this thread (from a signal handler, say) are not measured: cells have
// one writer. `record` is what the writing is about. Puts `after` in place as the active
// measurement at its end.
class NoMeasuring {
 public:
  NoMeasuring(ThreadState* thread, Record* record, Record* after) : thread_(thread), after_(after) {
    thread->active = Busy(record);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  ~NoMeasuring() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread_->active = after_;
  }

 private:
  ThreadState* thread_;
  Record* after_;
};

}  // namespace fieldcost::preload

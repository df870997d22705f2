#pragma once

// The rare writes of a measured call, inline; the usual one is shm::AddToCell(). Runs inside
// handlers: no libc call, no vector register, no lock.

#include <stdint.h>

#include "agent/preload/preload_thread_state.h"
#include "common/shm/cell_writer.h"

namespace fieldcost::preload {

using shm::AddToCell;

// Abandons the thread's active measurement, `record`.
inline void Abandon(ThreadState* thread, Record* record) {
  record->superseded = 1;
  record->usual = kNoPick;  // so that neither entry nor exit takes the fast path
  ++record->cells->abandoned;
  if (IsSampled(*record)) ++record->cells->sampled;
  thread->active = nullptr;
}

// Marks the pick's bytes as not measured for these reasons. Callable from any thread at any time.
inline void AddNotMeasured(shm::Pick* pick, uint32_t reasons) {
  if ((reasons & ~__atomic_load_n(&pick->not_measured, __ATOMIC_RELAXED)) == 0) return;
  __atomic_fetch_or(&pick->not_measured, reasons, __ATOMIC_RELAXED);
}

// Suspends measuring on this thread while it is alive, since cells have one writer: calls made
// meanwhile (for example, by a signal handler) are not measured. `record` is the record that the
// writes concern. The destructor makes `after` the active measurement.
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

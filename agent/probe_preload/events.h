#pragma once

#include <stdint.h>

#include "agent/probe_preload/thread_state.h"

namespace fieldcost::probe_preload {

// Events that are going on: those of a thread, innermost last, and the last of each name that the
// plan speaks of. All but ForgetEventsOfParent() REQUIRE that the thread's hit has begun.

// The thread's innermost event that nobody has ended, else the process's.
shm::ProbeEventId InnermostEvent(ThreadState* thread);

// Finds the event of that name (PlanEventCalled()): the thread's innermost, else the last that any
// thread has begun. False if there is none.
bool FindEvent(ThreadState* thread, uint32_t plan_event, shm::ProbeEventId* event);

// Begins an event, the thread's innermost from now on; `site` is what it is called by.
shm::ProbeEventId NewEvent(ThreadState* thread, uint32_t site);

// Begins with no events, in a child of fork(). REQUIRES: no hit is taken yet.
void ForgetEventsOfParent();

// The event has ended.
void ForgetEvent(ThreadState* thread, const shm::ProbeEventId& event);

}  // namespace fieldcost::probe_preload

#pragma once

#include <stdint.h>

#include "agent/probe_preload/probe_thread_state.h"

namespace fieldcost::probe_preload {

// Open events: those of each thread, innermost last, and the last one of each name that the plan
// mentions. All but ForgetEventsOfParent() REQUIRE that the thread's hit has begun.

// Returns the thread's innermost open event, else the process's.
shm::ProbeEventId InnermostEvent(ThreadState* thread);

// Finds the event with that name (PlanEventCalled()): the thread's innermost, else the last one
// that any thread has begun. Returns false if there is none.
bool FindEvent(ThreadState* thread, uint32_t plan_event, shm::ProbeEventId* event);

// Begins an event, which becomes the thread's innermost one; `site` determines its name.
shm::ProbeEventId NewEvent(ThreadState* thread, uint32_t site);

// Discards the parent's events in a child of fork(). REQUIRES: no hit has been recorded yet.
void ForgetEventsOfParent();

// Called when the event has ended.
void ForgetEvent(ThreadState* thread, const shm::ProbeEventId& event);

}  // namespace fieldcost::probe_preload

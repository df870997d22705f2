#pragma once

#include <stdint.h>

namespace fieldcost::probe_preload {

// Creates this process's file and maps it: sets process.header and the members derived from it;
// hits are recorded afterwards. If any step fails, returns false, and no file remains. REQUIRES:
// called by the constructor or by OpenRunOfChild().
bool OpenRun();

// In a child of fork() whose parent had a run, opens a run of its own. Returns false if the child
// has none or another thread is still opening it.
bool OpenRunOfChild();

// Stops recording in this process, which is about to enter a sandbox.
void DetachRun();

// Begins the process's own event, or joins the one that TRACEPARENT identifies ("": none), as a hit
// of this thread.
void BeginOwnEvent(const char* traceparent);

}  // namespace fieldcost::probe_preload

#pragma once

#include <stdint.h>

namespace fieldcost::probe_preload {

// Makes this process's file, and maps it: fills process.header and what follows from it; hits are
// taken afterwards. False, and nothing left behind, if any step fails. REQUIRES: the constructor,
// or the caller of OpenRunOfChild().
bool OpenRun();

// Opens a run of its own in a child of fork() whose parent had one. False if there is none, or not
// yet: another thread is at it.
bool OpenRunOfChild();

// Stops recording in this process: it enters a sandbox.
void Detach();

// Begins the process's own event, or joins the one that TRACEPARENT identifies ("": none), as a hit
// of this thread.
void BeginOwnEvent(const char* traceparent);

}  // namespace fieldcost::probe_preload

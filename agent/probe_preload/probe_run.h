#pragma once

#include <stdint.h>

namespace fieldcost::probe_preload {

// Makes this process's file and maps it: sets process.header and the members derived from it; hits
// are recorded afterwards. If any step fails, returns false and leaves nothing behind. REQUIRES:
// the constructor, or the caller of OpenRunOfChild().
bool OpenRun();

// Opens a run of its own in a child of fork() whose parent had one. Returns false without one, or
// while another thread is opening it.
bool OpenRunOfChild();

// Stops recording in this process: it enters a sandbox.
void Detach();

// Begins the process's own event, or joins the one that TRACEPARENT identifies ("": none), as a hit
// of this thread.
void BeginOwnEvent(const char* traceparent);

}  // namespace fieldcost::probe_preload

#pragma once

#include "common/shm/probe_file.h"

namespace fieldcost::probe_preload {

// W3C Trace Context: "00-<trace-id, 32 hex digits>-<parent-id, 16>-<flags, 2>"; the trace-id is an
// event's run and number.

inline constexpr uint32_t kTraceparentBytes = 55;

// Returns false if the text is not a traceparent; versions after 00 may have more fields. A
// trace-id whose first half is 0 is rejected as well.
bool ReadTraceparent(const char* untrusted_text, shm::ProbeEventId* event, uint64_t* parent);

// Writes the zero-terminated text.
void WriteTraceparent(const shm::ProbeEventId& event, uint64_t parent,
                      char (&text)[kTraceparentBytes + 1]);

}  // namespace fieldcost::probe_preload

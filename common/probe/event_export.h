#pragma once

#include <span>
#include <string>

#include "common/probe/event_store.h"

namespace fieldcost::probe {

// Exports events for other programs. Pure functions, thread-safe; the same events give the same
// bytes. Accepts any texts: they are escaped, and invalid UTF-8 becomes U+FFFD.

// OpenTelemetry's OTLP/JSON (one ExportTraceServiceRequest): one trace per event, with the event's
// id (if two owners have events with the same id, these share the trace, with separate spans). The
// root span has the event's label; below it is one span per participating run, and below that one
// span per step that ends there. Hits are span events of the run's span, with code.*, thread.id and
// fieldcost.*; a resource is a run. Span ids are derived from the event's owner and id. An event
// that began elsewhere has the parent carried by its first hit.
std::string ToOtlpJson(std::span<const Event> events);

// Chrome's trace event format (JSON object form), for Perfetto and chrome://tracing: one process
// per run, one thread per thread (on as many lines as there are overlapping steps), complete events
// for steps (category "step"), instants for hits ("point"), and one line per whole event ("event").
// Times are relative to the first one, which is `otherData.begin_unix_ns`, in us with three
// decimals: exact.
std::string ToChromeJson(std::span<const Event> events);

}  // namespace fieldcost::probe

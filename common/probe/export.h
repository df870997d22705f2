#pragma once

#include <span>
#include <string>

#include "common/probe/event_store.h"

namespace fieldcost::probe {

// Events for other programs. Pure functions, thread-safe; the same events give the same bytes.
// Texts may be any: they are escaped, and what is not UTF-8 becomes U+FFFD.

// OpenTelemetry's OTLP/JSON (one ExportTraceServiceRequest): a trace an event, whose id is the
// event's (two owners' events of one id share it, with spans of their own); a root span of its
// label, below it a span a run that takes part, below that a span a step that ends there. Hits are
// span events of the run's span, with code.*, thread.id and fieldcost.*; a resource is a run. Span
// ids follow from the event's owner and id. An event that began elsewhere has the parent that its
// first hit brought.
std::string ToOtlpJson(std::span<const Event> events);

// Chrome's trace event format (JSON object form), as Perfetto and chrome://tracing read it: a
// process a run, a thread a thread (as many lines of it as steps overlap), complete events for
// steps (category "step"), instants for hits ("point"); a line with each as a whole ("event").
// Times are since the first of them, which is `otherData.begin_unix_ns`, in us with three decimals:
// exact.
std::string ToChromeJson(std::span<const Event> events);

}  // namespace fieldcost::probe

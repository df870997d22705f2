#pragma once

#include <span>
#include <string>

#include "common/probe/event_store.h"

namespace fieldcost::probe {

// Exports events for other programs. Pure functions, thread-safe; the same events give the same
// bytes. Accepts any texts: they are escaped, and invalid UTF-8 becomes U+FFFD.

// OpenTelemetry's OTLP/JSON (one ExportTraceServiceRequest): one trace per event, with the event's
// id (events of two owners with the same id share it, with separate spans); a root span with its
// label, below it one span per participating run, below that one span per step that ends there.
// Hits are span events of the run's span, with code.*, thread.id and fieldcost.*; a resource is a
// run. Span ids are derived from the event's owner and id. An event that began elsewhere has the
// parent carried by its first hit.
std::string ToOtlpJson(std::span<const Event> events);

// Chrome's trace event format (JSON object form), as Perfetto and chrome://tracing read it: one
// process per run, one thread per thread (with as many lines as steps overlap), complete events for
// steps (category "step"), instants for hits ("point"); and one line for each whole event
// ("event"). Times count from the first one, which is `otherData.begin_unix_ns`, in us with three
// decimals: exact.
std::string ToChromeJson(std::span<const Event> events);

}  // namespace fieldcost::probe

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/recording/descriptions.h"
#include "common/recording/recording_limits.h"
#include "common/tree/tree_metric.h"

namespace fieldcost::recording {

// Samples with a duration: in a stream of waits, events or idle time, a value in nanoseconds is the
// length of a span that ends at the sample's time. It is attributed to the intervals in which it
// passes. Pure functions.

// Whether values of the stream's metric are lengths of spans. REQUIRES: both exist.
inline bool HasSpans(const Descriptions& descriptions, StreamId stream, std::size_t metric) {
  const Stream& one = descriptions.streams[stream.value()];
  return (one.kind == StreamKind::kWaits || one.kind == StreamKind::kEvents ||
          one.kind == StreamKind::kIdle) &&
         descriptions.metrics[one.metrics[metric]].unit == tree::Unit::kNanoseconds;
}

// The maximum length of the stream's spans. Waits and events are written in parts while they pass.
// An idle period is recorded when it ends, as one sample of any length.
inline std::uint64_t SpanLimitNs(const Descriptions& descriptions, StreamId stream) {
  const bool is_idle = descriptions.streams[stream.value()].kind == StreamKind::kIdle;
  return is_idle ? UINT64_MAX : kMaxSpanNs;
}

// How much of a span passes before a time: 0 up to its begin, `length_ns` from its end on. If a
// span exceeds the limit, which our writers never produce, the excess counts at the begin of the
// limited span; the part of a span before time 0 counts at time 0.
inline std::uint64_t PassedBefore(std::uint64_t time_ns, std::uint64_t end_ns,
                                  std::uint64_t length_ns, std::uint64_t limit_ns = kMaxSpanNs) {
  if (time_ns == 0) return 0;
  if (time_ns >= end_ns) return length_ns;
  const std::uint64_t left_ns = end_ns - time_ns;
  return left_ns >= limit_ns ? 0 : length_ns - std::min(length_ns, left_ns);
}

}  // namespace fieldcost::recording

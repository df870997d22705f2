#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/probe/event_store.h"
#include "common/probe/probe_limits.h"

namespace fieldcost::probe {

// Events for tests.

inline constexpr std::uint64_t kSomeTimeNs = kLeastNs + 1'000'000'000;

struct SomeHit {
  std::string label;
  std::uint64_t at_ns = 0;  // since the event's beginning
  HitKind kind = HitKind::kPoint;
  std::uint32_t thread = 1;
  std::uint64_t run = 1;
};

// A row with label "open" and this duration; every call uses a new number.
EventRow SomeRow(std::uint64_t number, std::uint64_t total_ns);

// Ends at its last hit; every call uses a new number.
Event SomeEvent(std::uint64_t number, const std::vector<SomeHit>& hits);

// An event whose steps "step 1", "step 2", … have these durations.
Event EventOfSteps(std::uint64_t number, const std::vector<std::uint64_t>& ns);

}  // namespace fieldcost::probe

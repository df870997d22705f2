#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/probe/event_store.h"
#include "common/probe/limits.h"

namespace fieldcost::probe {

// Events for tests.

inline constexpr std::uint64_t kSomeTimeNs = kLeastNs + 1'000'000'000;

struct SomeHit {
  std::string label;
  std::uint64_t at_ns = 0;  // from the event's begin on
  HitKind kind = HitKind::kPoint;
  std::uint32_t thread = 1;
  std::uint64_t run = 1;
};

// A row of label "open" that took that long; each has another number.
EventRow SomeRow(std::uint64_t number, std::uint64_t total_ns);

// Over at its last hit; each has another number.
Event SomeEvent(std::uint64_t number, const std::vector<SomeHit>& hits);

// An event whose steps "step 1", "step 2", … took that long.
Event EventOfSteps(std::uint64_t number, const std::vector<std::uint64_t>& ns);

}  // namespace fieldcost::probe

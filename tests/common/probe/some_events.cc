#include "tests/common/probe/some_events.h"

#include <fmt/format.h>

namespace fieldcost::probe {

EventRow SomeRow(std::uint64_t number, std::uint64_t total_ns) {
  return {.row = number,
          .id = {.run = 1, .number = number},
          .label = "open",
          .program = "editor",
          .build = "1.0",
          .begin_ns = kSomeTimeNs + number,
          .end_ns = kSomeTimeNs + number + total_ns,
          .points_key = 7};
}

Event SomeEvent(std::uint64_t number, const std::vector<SomeHit>& hits) {
  Event event{.row = SomeRow(number, hits.empty() ? 0 : hits.back().at_ns)};
  event.row.hits = hits.size();
  for (const SomeHit& hit : hits) {
    event.hits.push_back({.site = {.label = hit.label},
                          .kind = hit.kind,
                          .run = hit.run,
                          .ns = event.row.begin_ns + hit.at_ns,
                          .thread = hit.thread});
  }
  return event;
}

Event EventOfSteps(std::uint64_t number, const std::vector<std::uint64_t>& ns) {
  std::vector<SomeHit> hits = {{.label = "open", .kind = HitKind::kBegin}};
  for (std::size_t i = 0; i < ns.size(); ++i) {
    hits.push_back({.label = fmt::format("step {}", i + 1), .at_ns = hits.back().at_ns + ns[i]});
  }
  return SomeEvent(number, hits);
}

}  // namespace fieldcost::probe

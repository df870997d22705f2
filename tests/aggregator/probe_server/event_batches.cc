#include "tests/aggregator/probe_server/event_batches.h"

namespace fieldcost::testing {

probe::Batch BatchOf(std::uint64_t sequence, const EventOptions& options) {
  probe::Batch batch;
  batch.sequence = sequence;
  batch.runs = {{.id = options.run,
                 .session = options.run,
                 .program = options.program,
                 .build = options.build,
                 .tags = options.tags,
                 .start_ns = options.begin_ns,
                 .lost_hits = options.lost_hits}};
  batch.frames = {
      {.function = options.function, .module = "editor", .file = options.file, .line = 40},
      {.function = "main", .module = "editor", .file = "src/main.cc", .line = 3}};
  batch.stacks = {{.frames = {0, 1}}};
  const probe::EventId id = EventOf(options);
  batch.events = {
      {.id = id,
       .run = 0,
       .label = options.label,
       .begin_ns = options.begin_ns,
       .end_ns = options.is_over ? options.begin_ns + options.steps * options.step_ns : 0}};
  for (std::size_t i = 0; i <= options.steps; ++i) {
    const bool ends = i == options.steps && options.is_over;
    batch.sites.push_back({.label = i == 0 ? options.label : "step " + std::to_string(i),
                           .function = options.function,
                           .file = options.file,
                           .line = static_cast<std::uint32_t>(10 + i)});
    batch.hits.push_back({.event = id,
                          .run = 0,
                          .site = static_cast<std::uint32_t>(i),
                          .stack = 0,
                          .kind = i == 0 ? probe::HitKind::kBegin
                                         : (ends ? probe::HitKind::kEnd : probe::HitKind::kPoint),
                          .ns = options.begin_ns + i * options.step_ns,
                          .thread = 7,
                          .sequence = i + 1});
  }
  return batch;
}

}  // namespace fieldcost::testing

#pragma once

#include <random>

#include "common/probe/probe_limits.h"
#include "common/probe/types.h"

namespace fieldcost::probe {

inline constexpr std::uint64_t kSampleNs = 1'790'000'000'000'000'000;

// Two events of one run, one of them finished, with a stack, a value and a parent.
inline Batch SampleBatch(std::uint64_t sequence = 1, std::uint64_t run = 0xabcdef0123456789) {
  Batch batch;
  batch.sequence = sequence;
  batch.runs = {{.id = run,
                 .session = 77,
                 .program = "editor",
                 .build = "1.2",
                 .tags = {"cold", "nightly"},
                 .start_ns = kSampleNs,
                 .disk_read_bytes = 4096,
                 .lost_hits = 3,
                 .waited_ns = 20,
                 .observed_ns = 1000}};
  batch.sites = {{.label = "index_open", .function = "Open", .file = "src/index.cc", .line = 12},
                 {.label = "data loaded", .function = "Load", .file = "src/index.cc", .line = 40},
                 {.label = "view ready", .function = "Show", .file = "src/view.cc", .line = 7}};
  batch.frames = {{.function = "Load", .module = "editor", .file = "src/index.cc", .line = 40},
                  {.function = "main", .module = "editor", .file = "src/main.cc", .line = 3}};
  batch.stacks = {{.frames = {0, 1}}, {.frames = {1}, .is_cut = true}};
  const EventId open = {run, 1};
  const EventId joined = {0x1111, 0x2222};
  batch.events = {{.id = open,
                   .run = 0,
                   .label = "index_open",
                   .begin_ns = kSampleNs + 1000,
                   .end_ns = kSampleNs + 9000},
                  {.id = joined, .run = 0, .is_incomplete = true}};
  batch.hits = {{.event = open,
                 .site = 0,
                 .kind = HitKind::kBegin,
                 .ns = kSampleNs + 1000,
                 .thread = 5,
                 .sequence = 1},
                {.event = open,
                 .site = 1,
                 .stack = 0,
                 .ns = kSampleNs + 4000,
                 .thread = 6,
                 .sequence = 1,
                 .value = 0},
                {.event = joined,
                 .site = 2,
                 .stack = 1,
                 .kind = HitKind::kJoin,
                 .ns = kSampleNs + 4500,
                 .thread = 6,
                 .sequence = 2,
                 .parent = 0x99},
                {.event = open,
                 .site = 2,
                 .stack = 0,
                 .kind = HitKind::kEnd,
                 .ns = kSampleNs + 9000,
                 .thread = 5,
                 .sequence = 2}};
  return batch;
}

// A random valid batch.
inline Batch RandomBatch(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  Batch batch;
  batch.sequence = 1 + below(1000);
  for (std::uint64_t i = 0; i < 1 + below(4); ++i) {
    batch.runs.push_back(
        {.id = random() | 1,
         .session = random() | 1,
         .program = "p" + std::to_string(i),
         .tags = below(2) == 0 ? std::vector<std::string>() : std::vector<std::string>{"a", "b"},
         .start_ns = kSampleNs + below(1000),
         .lost_hits = below(3)});
  }
  for (std::uint64_t i = 0; i < 1 + below(9); ++i) {
    batch.sites.push_back({.label = "label " + std::to_string(i),
                           .function = "",
                           .file = "f.cc",
                           .line = static_cast<std::uint32_t>(random()),
                           .kind = static_cast<SiteKind>(below(3))});
    batch.frames.push_back({.function = "f" + std::to_string(below(5)), .module = "m"});
  }
  for (std::uint64_t i = 0; i < below(6); ++i) {
    Stack& stack = batch.stacks.emplace_back();
    stack.is_cut = below(2) == 0;
    for (std::uint64_t k = 0; k < below(7); ++k) {
      stack.frames.push_back(static_cast<std::uint32_t>(below(batch.frames.size())));
    }
  }
  for (std::uint64_t i = 0; i < 1 + below(6); ++i) {
    EventInfo& event = batch.events.emplace_back();
    event.run = static_cast<std::uint32_t>(below(batch.runs.size()));
    event.id = {batch.runs[event.run].id, i};
    if (below(4) != 0) {
      event.label = "event " + std::to_string(below(3));
      event.begin_ns = kSampleNs + below(1000);
      if (below(2) != 0) event.end_ns = event.begin_ns + below(100000);
    }
    event.is_incomplete = below(5) == 0;
    event.is_suspended = below(5) == 0;
  }
  for (std::uint64_t i = 0; i < below(200); ++i) {
    Hit& hit = batch.hits.emplace_back();
    hit.event = batch.events[below(batch.events.size())].id;
    hit.run = static_cast<std::uint32_t>(below(batch.runs.size()));
    hit.site = static_cast<std::uint32_t>(below(batch.sites.size()));
    if (!batch.stacks.empty() && below(2) == 0) {
      hit.stack = static_cast<std::uint32_t>(below(batch.stacks.size()));
    }
    hit.kind = static_cast<HitKind>(1 + below(4));
    hit.ns = kSampleNs + below(1'000'000);
    hit.thread = static_cast<std::uint32_t>(below(4));
    hit.sequence = i;
    if (below(3) == 0) hit.value = random();
    if (below(3) == 0) hit.parent = random();
  }
  return batch;
}

}  // namespace fieldcost::probe

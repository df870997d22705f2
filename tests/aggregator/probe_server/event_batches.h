#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/probe/types.h"

namespace fieldcost::testing {

// 2026-11-23 00:00 UTC.
inline constexpr std::uint64_t kEventDayNs = 1'795'392'000'000'000'000;

struct EventOptions {
  std::uint64_t run = 1;
  std::uint64_t begin_ns = kEventDayNs;
  std::uint64_t step_ns = 1'000'000;  // per step
  std::size_t steps = 3;
  std::string label = "index_open";
  std::string program = "editor";
  std::string build = "1.0";
  std::vector<std::string> tags;
  std::string function = "Open";
  std::string file = "src/index.cc";
  bool is_over = true;
  std::uint64_t lost_hits = 0;  // for the whole run
};

// Returns a batch with one event of its own run: a begin point and `steps` further points; the last
// one ends the event. Each point has a stack of two frames.
probe::Batch BatchOf(std::uint64_t sequence, const EventOptions& options);
inline probe::EventId EventOf(const EventOptions& options) { return {options.run, 1}; }

}  // namespace fieldcost::testing

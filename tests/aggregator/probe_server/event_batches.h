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
  std::uint64_t step_ns = 1'000'000;  // of each step
  std::size_t steps = 3;
  std::string label = "index_open";
  std::string program = "editor";
  std::string build = "1.0";
  std::vector<std::string> tags;
  std::string function = "Open";
  std::string file = "src/index.cc";
  bool is_over = true;
  std::uint64_t lost_hits = 0;  // of the run
};

// A batch with one event of a run of its own: its beginning, `steps` points, the last of which ends
// it, each with a stack of two frames.
probe::Batch BatchOf(std::uint64_t sequence, const EventOptions& options);
inline probe::EventId EventOf(const EventOptions& options) { return {options.run, 1}; }

}  // namespace fieldcost::testing

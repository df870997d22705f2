#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fieldcost::fleet {

struct FleetOptions {
  std::uint64_t agents = 100'000;
  std::uint64_t seed = 1;
  unsigned warm_up_days = 7;  // agents start during these days, which are not counted
  unsigned steady_days = 14;  // counted as the steady state
  unsigned outage_hours = 30 * 24;
  unsigned recovery_days = 21;
  double asleep = 0.5;  // share of machines that sleep at night; all in one time zone
};

// The load that a fleet causes at a server. Hours count from the end of the warm-up.
struct FleetLoad {
  std::vector<std::uint64_t> tries;     // requests per hour, including those during the outage
  std::vector<std::uint64_t> answered;  // requests per hour that the server answers
  std::uint64_t batches_made = 0;
  std::uint64_t batches_sent = 0;
  std::uint64_t batches_dropped = 0;  // waited too long
  std::uint64_t batches_waiting = 0;  // at the end

  double steady_mean = 0;  // requests per hour before the outage
  std::uint64_t steady_peak = 0;
  std::uint64_t peak_after = 0;  // the busiest hour after the outage
};

// Simulates a fleet on a virtual clock with the schedule of agent/upload/upload_schedule.h.
// Deterministic for a given seed.
FleetLoad Simulate(const FleetOptions& options);

// Returns the load as an SVG picture for a README, in light and dark.
std::string DrawLoad(const FleetOptions& options, const FleetLoad& load);

}  // namespace fieldcost::fleet

#pragma once

#include "agent/preload/preload_policy.h"

namespace fieldcost::preload {

// The machine's load. Values that cannot be determined are 0.
struct MachineLoad {
  uint64_t load_percent;         // 1-minute load average, relative to the cores we may use
  uint64_t pressure_hundredths;  // of a percent of the last 10 s some task waited for a CPU
};
MachineLoad ReadMachineLoad();

// Returns true if the load is too high to measure anything now.
inline bool IsTooMuch(const shm::PolicyHeader& policy, const MachineLoad& load) {
  const uint64_t most_pressure = uint64_t{policy.max_cpu_pressure_percent} * 100;
  return (most_pressure != 0 && load.pressure_hundredths > most_pressure) ||
         (policy.max_load_per_core_percent != 0 &&
          load.load_percent > policy.max_load_per_core_percent);
}

// Returns true if the load exceeds half of those limits: calls then take longer than on an idle
// machine. A policy without a limit counts as having the default one.
inline bool IsMuch(const shm::PolicyHeader& policy, const MachineLoad& load) {
  constexpr uint64_t kDefaultLoadPercent = 80;
  constexpr uint64_t kDefaultPressurePercent = 20;
  const uint64_t most_load = policy.max_load_per_core_percent;
  const uint64_t most_pressure = policy.max_cpu_pressure_percent;
  return load.load_percent * 2 > (most_load == 0 ? kDefaultLoadPercent : most_load) ||
         load.pressure_hundredths * 2 >
             (most_pressure == 0 ? kDefaultPressurePercent : most_pressure) * 100;
}

// Returns true if too many run files await collection by the daemon to create another one.
// Counts the field's files, or those of requested runs if this run is only requested.
bool AreTooManyRunFiles(const RunRequest& request);

// Takes one of the policy's leases, each of which permits measuring one program of this user. It is
// held until it is given back or this process image ends in any way: the lock belongs to an open
// file description that only a mapping refers to. Returns false if all are taken.
bool TakeLease(const RunRequest& request);
void GiveBackLease();

}  // namespace fieldcost::preload

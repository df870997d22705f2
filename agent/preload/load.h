#pragma once

#include "agent/preload/policy.h"

namespace fieldcost::preload {

// What the machine has to do. 0 where it cannot be told.
struct MachineLoad {
  uint64_t load_percent;         // the 1-minute load average, of the cores we may use
  uint64_t pressure_hundredths;  // of a percent of the last 10 s some task waited for a CPU
};
MachineLoad ReadMachineLoad();

// True if that is so much that nothing should be measured now.
inline bool IsTooMuch(const shm::PolicyHeader& policy, const MachineLoad& load) {
  const uint64_t most_pressure = uint64_t{policy.max_cpu_pressure_percent} * 100;
  return (most_pressure != 0 && load.pressure_hundredths > most_pressure) ||
         (policy.max_load_per_core_percent != 0 &&
          load.load_percent > policy.max_load_per_core_percent);
}

// True if it is more than half of that: calls then take longer than on a machine with little to do.
// A policy without a limit is taken to have the default one.
inline bool IsMuch(const shm::PolicyHeader& policy, const MachineLoad& load) {
  constexpr uint64_t kDefaultLoadPercent = 80;
  constexpr uint64_t kDefaultPressurePercent = 20;
  const uint64_t most_load = policy.max_load_per_core_percent;
  const uint64_t most_pressure = policy.max_cpu_pressure_percent;
  return load.load_percent * 2 > (most_load == 0 ? kDefaultLoadPercent : most_load) ||
         load.pressure_hundredths * 2 >
             (most_pressure == 0 ? kDefaultPressurePercent : most_pressure) * 100;
}

// True if the daemon has not collected the run files for so long that no more should be made: those
// of the field, or, for a run that is only asked for, those that were.
bool AreTooManyRunFiles(const Request& request);

// Takes one of the policy's leases, each of which lets one program of this user be measured. It is
// held until it is given back or this process image ends, however it ends: the lock belongs to an
// open file that only a mapping refers to. False if all are taken.
bool TakeLease(const Request& request);
void GiveBackLease();

}  // namespace fieldcost::preload

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/shm/lab_file.h"

namespace fieldcost::lab {

struct PlanFile {
  std::uint32_t mode = shm::kLabMap;
  std::uint64_t tsc_to_ns_multiplier = 0;
  std::vector<shm::LabPlanEntry> entries;  // empty in a map run
  std::string globs;                       // "library!symbol", comma-separated; empty = all
  bool data_slots = false;
};

// Writes the plan to the file that the library reads (shm::kLabPlanName). Errors: kTooLarge, kIo.
Status WritePlan(const std::filesystem::path& directory, PlanFile plan);

}  // namespace fieldcost::lab

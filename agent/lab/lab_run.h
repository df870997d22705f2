#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agent/lab/lab_file_reader.h"
#include "agent/lab/plan_file.h"
#include "agent/lab/scenario.h"

namespace fieldcost::lab {

// A run of the scenario with the library in its programs.
struct LabRun {
  ScenarioRun scenario;
  std::vector<LabFile> files;       // of its programs
  std::uint32_t still_running = 0;  // programs that had not ended five seconds after the command
  std::uint32_t refused_files = 0;  // that could not be understood
  // Programs of a map run, escaped, that nothing can be loaded into, and why.
  std::vector<std::string> unmeasured;
};

struct LabRunner {
  std::filesystem::path library;
  std::filesystem::path directory;  // on memory, this process's own; exists
  ScenarioOptions scenario;
};

// Leaves the plan, runs, and takes what was left.
Result<LabRun> RunWithLibrary(const LabRunner& runner, PlanFile plan);

}  // namespace fieldcost::lab

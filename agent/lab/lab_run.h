#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agent/lab/lab_file_reader.h"
#include "agent/lab/lab_plan_file.h"
#include "agent/lab/scenario.h"

namespace fieldcost::lab {

// A run of the scenario with the library in its programs.
struct LabRun {
  ScenarioRun scenario;
  std::vector<LabFile> files;       // one per program
  std::uint32_t still_running = 0;  // programs that had not ended five seconds after the command
  std::uint32_t refused_files = 0;  // files that could not be parsed
  // Programs of a map run (escaped) into which no library can be loaded, and why.
  std::vector<std::string> unmeasured;
};

struct LabRunner {
  std::filesystem::path library;
  std::filesystem::path directory;  // in memory, private to this process; exists
  ScenarioOptions scenario;
};

// Writes the plan, runs the scenario, and reads the programs' files.
Result<LabRun> RunWithLibrary(const LabRunner& runner, PlanFile plan);

}  // namespace fieldcost::lab

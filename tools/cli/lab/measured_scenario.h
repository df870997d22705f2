#pragma once

#include <signal.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "agent/lab/measure.h"
#include "agent/settings/agent_config.h"
#include "agent/settings/paths.h"
#include "agent/settings/scratch_directory.h"
#include "common/base/result.h"
#include "common/base/run_input.h"
#include "common/wire/lab_table.h"
#include "tools/analysis/coverage.h"
#include "tools/analysis/requirement.h"

namespace fieldcost::cli {

// Measures scenarios for commands: prepares what the lab needs, shows progress and remarks on
// stderr, and builds the lab table. Shared by `measure` and `check`.

struct LabInput {
  std::filesystem::path file;  // standard input of each run; empty: this process's
  std::uint64_t runs = 1;      // that read it, at least
};

// Everything that measuring a scenario needs.
struct LabBench {
  settings::AgentConfig config;
  settings::ScratchDirectory directory;
  std::shared_ptr<RunInput> input;
  lab::MeasureOptions options;

  // Completes `options`, whose scenario is set. kNotFound if there is no such program or library;
  // kUnsupported if the program, or this machine, cannot be measured; errors of RunInput::Open().
  // Nothing has been run then.
  static Result<LabBench> Make(const settings::AgentPaths& paths, lab::MeasureOptions options,
                               const LabInput& input);
};

struct MeasuredScenario {
  wire::LabTable table;
  lab::Measurement found;
  analysis::Coverage coverage;
};

// Measures the bench's scenario, reports it, and builds its table. Errors of lab::Measure().
Result<MeasuredScenario> MeasureScenario(const LabBench& bench, const std::string& name);

// The bytes that each function's calls left allocated.
analysis::LiveRuns LiveRunsOf(const lab::Measurement& found);

// The exit status of a command whose measurement ended like this; 0 if nothing
// failed.
int StatusOf(const lab::Measurement& found);

// While it exists, ^C ends the current run, and completed runs are kept.
class InterruptibleRuns {
 public:
  InterruptibleRuns();
  ~InterruptibleRuns();
  InterruptibleRuns(const InterruptibleRuns&) = delete;
  InterruptibleRuns& operator=(const InterruptibleRuns&) = delete;

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace fieldcost::cli

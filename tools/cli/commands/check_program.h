#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "agent/settings/paths.h"
#include "common/base/result.h"
#include "tools/cli/lab/measured_scenario.h"

namespace fieldcost::cli {

// The program of `check -- PROGRAM`: measured first, then, if needed, traced.
class CheckedProgram {
 public:
  struct Options {
    std::vector<std::string> words;
    std::filesystem::path input;  // standard input of each run; empty: this process's
    std::uint32_t rounds = 5;     // how many times each API is timed
    std::filesystem::path kept;   // a directory for the table and the recording; empty: neither
  };

  // Measures all APIs that it calls. Errors of LabBench::Make() and MeasureScenario(), and of
  // writing into `kept`, which is created before anything is run.
  static Result<CheckedProgram> Measure(const settings::AgentPaths& paths, const Options& options);

  // Records its stacks in as many runs as yield enough samples, and returns the recording, which
  // lasts as long as this object, or in `kept`. kUnavailable if a run failed, or could not be
  // recorded; the recorder has reported why.
  Result<std::filesystem::path> Trace();

  const MeasuredScenario& measured() const { return *measured_; }
  // For people; untrusted.
  std::string name() const;

 private:
  CheckedProgram(Options options, LabBench bench)
      : options_(std::move(options)), bench_(std::move(bench)) {}

  Options options_;
  LabBench bench_;
  std::unique_ptr<MeasuredScenario> measured_;
};

}  // namespace fieldcost::cli

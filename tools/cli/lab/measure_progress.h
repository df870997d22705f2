#pragma once

#include <chrono>
#include <string>

#include "agent/lab/measure.h"
#include "common/draw/terminal.h"

namespace fieldcost::cli {

// Reports the progress of a measurement on stderr: in place on a terminal, else in occasional
// lines.
class LabProgress {
 public:
  LabProgress();
  // Clears the line.
  ~LabProgress();
  LabProgress(const LabProgress&) = delete;
  LabProgress& operator=(const LabProgress&) = delete;

  void Show(const lab::MeasureProgress& at);

 private:
  bool terminal_;
  bool is_shown_ = false;
  std::chrono::steady_clock::time_point last_line_;
};

// "[####----] round 2 of 5, group 3 of 20, 9 s left". Pure.
std::string ProgressText(const lab::MeasureProgress& at);

}  // namespace fieldcost::cli

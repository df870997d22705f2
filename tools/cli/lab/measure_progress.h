#pragma once

#include <chrono>
#include <string>

#include "agent/lab/measure.h"
#include "common/draw/terminal.h"

namespace fieldcost::cli {

// How far a measurement is, on stderr: a line in place on a terminal, else one now and then.
class LabProgress {
 public:
  LabProgress();
  // Takes the line away.
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

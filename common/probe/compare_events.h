#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/inference/verdict.h"
#include "common/probe/steps.h"

namespace fieldcost::probe {

// Compares two groups of events step by step. Pure functions. Logarithms of the times are compared
// by Welch's test (common/inference/welch.h), and p values are adjusted over all steps after
// Benjamini and Hochberg. Events of one run are correlated, so if both sides have enough runs
// (inference::kEventThresholds), the mean of each run is one value of the test; otherwise each
// event is one. On a busy machine, the time that each run waited for a CPU explains most of the
// variation: if it is known for all runs and does not differ between the sides, the values are
// adjusted for it (common/inference/covariate.h). groups.h forms the groups. The caller must omit
// events to be set aside (set_aside.h); events that are not over have no total. README.md states
// the error rates.

// The base-2 logarithm of the factor by which a run takes longer if it waits for a CPU during this
// share of the time in which it could run; bounded.
double WaitOctaves(double share);

struct StepChange {
  std::string name;  // empty for the whole event
  std::size_t base_events = 0;
  std::size_t new_events = 0;
  std::size_t base_values = 0;  // number compared: runs or events
  std::size_t new_values = 0;
  double base_ns = 0;  // geometric means of times of at least 1 ns; 0 without events
  double new_ns = 0;
  double ratio = 1;      // new / base, at the same wait for a CPU, if both have events
  double ratio_low = 0;  // 95 % interval; 0 and 0 if a side has fewer than 2 values
  double ratio_high = 0;
  double p = 1;  // 1 if a side has too few values
  double q = 1;  // adjusted over all totals, or all steps, that are decided together
  inference::Verdict change = inference::Verdict::kTooLittleData;
};

struct Comparison {
  StepChange total;
  std::vector<StepChange> steps;  // in the order of Align()
  bool by_run = false;            // a value is the mean of a run, not an event
  bool at_equal_wait = false;     // adjusted for the runs' wait for a CPU
};

// Verdicts are by inference::kEventThresholds; the least ratio is 1 + `least`.
Comparison Compare(std::span<const Event> base, std::span<const Event> changed, double least);
// Repeats the decisions of several comparisons with q adjusted over all of them: once over all
// totals, and once over all steps.
void DecideTogether(std::span<Comparison* const> comparisons, double least);

struct BuildPoint {
  std::string build;
  std::uint64_t first_ns = 0;
  std::size_t events = 0;
  double median_ns = 0;
  double low_ns = 0;  // quartiles
  double high_ns = 0;
  StepChange change;  // relative to the previous build; kTooLittle for the first
};

// The builds of one program with one set of tags, ordered by their first event.
struct HistoryLine {
  std::string program;
  std::vector<std::string> tags;
  std::vector<BuildPoint> builds;
};

// A label's totals over builds: one line per program and set of tags, in that order. Each build is
// compared with the previous one, with q adjusted over all lines. Omits events that are not over.
std::vector<HistoryLine> History(std::span<const EventRow> events, double least);

}  // namespace fieldcost::probe

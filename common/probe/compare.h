#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/probe/steps.h"

namespace fieldcost::probe {

// Two groups of events, step by step. Pure functions. Times are compared as logarithms by Welch's
// test (common/stats/welch.h), and p values over all steps adjusted after Benjamini and Hochberg.
// The caller leaves out events to be set aside (set_aside.h); events that are not over have no
// total. README.md has how often the comparison errs.

inline constexpr std::size_t kLeastEvents = 5;  // of a side; fewer are too little to tell
inline constexpr double kMostFalse = 0.05;      // share of false ones among changes that are named

enum class Change : std::uint8_t { kTooLittle, kNone, kSlower, kFaster };

struct StepChange {
  std::string name;  // "" of the whole event
  std::size_t base_events = 0;
  std::size_t new_events = 0;
  double base_ns = 0;  // geometric means, of times of at least 1 ns; 0 without events
  double new_ns = 0;
  double ratio = 1;      // new / base, if both have events
  double ratio_low = 0;  // 95 % interval; 0 and 0 if a side has fewer than 2
  double ratio_high = 0;
  double p = 1;  // 1 if a side has fewer than kLeastEvents
  double q = 1;  // adjusted; of the whole event p
  Change change = Change::kTooLittle;
};

struct Comparison {
  StepChange total;
  std::vector<StepChange> steps;  // in the order of Align()
};

// kSlower and kFaster: q at most kMostFalse and a ratio beyond 1 + `least` (or below 1 / that).
Comparison Compare(std::span<const Event> base, std::span<const Event> changed, double least);

// A label's totals over builds, oldest first by their first event; each is compared with the one
// before, q adjusted over all of them. Events that are not over are left out.
struct BuildPoint {
  std::string build;
  std::uint64_t first_ns = 0;
  std::size_t events = 0;
  double median_ns = 0;
  double low_ns = 0;  // quartiles
  double high_ns = 0;
  StepChange change;  // to the build before; of the first kTooLittle
};
std::vector<BuildPoint> History(std::span<const EventRow> events, double least);

}  // namespace fieldcost::probe

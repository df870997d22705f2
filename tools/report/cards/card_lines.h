#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/draw/spectrum.h"
#include "tools/analysis/summary.h"
#include "tools/report/cards/cost_card.h"
#include "tools/report/freshness_text.h"

namespace fieldcost::report {

// Text shared by all forms of a card: plain, not escaped for any of them. Only for this folder's
// cards and pages.

inline constexpr std::string_view kBarsWords =
    " Bars: cheap on the left, expensive on the right, higher = more often.";
inline constexpr unsigned kCardWidth = 480;
inline constexpr unsigned kCardHeight = 196;

struct CardLine {
  std::string version;
  std::string p50;
  std::string p95;
  std::string p99;
  std::string mean;
  std::string count;
  std::string contributions;
};

struct CardWords {
  std::string name;      // "libz.so.1!inflate"; demangled if it is C++
  std::string function;  // the same without the library
  std::string subject;   // "wall_time per call, version 1.3.1"
  std::string sentence;  // everything about the shown version
  std::string
      range;  // "p50 1.2 µs (1.0 µs – 2.0 µs)": with the interval that is guaranteed to hold it
  std::string basis;            // "12,345 calls of 480 contributions; all classes, all weeks"
  std::string footer;           // basis, snapshot, and how to read it
  std::string snapshot;         // "snapshot 1, published 2026-11-21 03:10 UTC"
  std::string spectrum_svg;     // in the page's colours
  std::vector<CardLine> lines;  // one per version, the shown one first
};
CardWords WordsOf(const CostCard& card);

// The metric that a card shows: wall time if measured, else the first measured one; null if there
// is none.
struct Shown {
  stats::Metric metric = stats::Metric::kWallTime;
  const analysis::MetricSummary* summary = nullptr;
};
Shown ShownOf(const CostCard& card);
// The metric's bars; empty without a metric.
draw::Bars BarsOf(const Shown& shown);

}  // namespace fieldcost::report

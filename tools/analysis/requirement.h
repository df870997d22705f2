#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "common/base/result.h"
#include "common/stats/quantiles.h"
#include "common/wire/lab_table.h"

namespace fieldcost::analysis {

// Absolute requirements on functions, and whether a lab table meets them. Unlike a comparison, they
// need neither a catalogue nor an older table, so they suit functions that are new. Pure functions.

enum class RequiredFigure {
  kP50,
  kP90,
  kP95,
  kP99,
  kMean,  // of the times of calls
  kAllocated,
  kDiskRead,
  kDiskWritten,
  kNetReceived,
  kNetSent,  // bytes per call, on average
  kCalls,    // calls per run
  kGrowing,  // bytes that calls leave allocated; the limit is 0
};
inline constexpr std::size_t kRequiredFigures = 12;
// The key in a file of requirements: "p99", "allocated", ...
std::string_view Name(RequiredFigure figure);
// The metric that determines the unit.
stats::Metric MetricOf(RequiredFigure figure);

// One requirement: a figure of each function that a name matches is at most a limit.
struct Requirement {
  std::string name;   // as the user wrote it
  std::string globs;  // "soname!symbol", comma-separated
  RequiredFigure figure = RequiredFigure::kP99;
  std::uint64_t most = 0;  // in ns, bytes or calls
};

// Parses a limit: "1ms", "250 us", "0.5 s" in ns, "4 KiB", "0 B" in bytes, "100" calls; exact, and
// at most 2^53. kInvalidArgument, with the expected form.
Result<std::uint64_t> ParseLimit(std::string_view untrusted_text, RequiredFigure figure);

// The bytes that a function's calls have left allocated in one run, minus those
// that they have freed, callees included, over parts of its calls.
struct LiveBytes {
  std::uint64_t calls = 0;  // of the last part
  std::int64_t middle = 0;  // in about the second quarter of the calls
  std::int64_t last = 0;    // in about the second half
};
// By soname, symbol and symbol version: one per run; nullopt: not measured.
using LiveRuns = std::map<std::tuple<std::string, std::string, std::string>,
                          std::vector<std::optional<LiveBytes>>>;

enum class RequiredVerdict { kMet, kViolated, kNotMeasured };
// "met", "violated", "not measured".
std::string_view Name(RequiredVerdict verdict);

// One requirement on one function.
struct JudgedRequirement {
  Requirement requirement;
  stats::ApiKey api;               // an empty symbol: no function has the name
  std::optional<double> measured;  // an estimate for quantiles
  // The true quantile is certainly between `low` and `high`.
  std::optional<stats::Quantile> quantile;
  RequiredVerdict verdict = RequiredVerdict::kNotMeasured;
  std::string why;  // not measured; untrusted
};

// The largest relative error of a quantile's estimate (common/stats/FIGURES.md): a limit inside the
// certain interval and closer to the estimate than this factor is not decided.
inline constexpr double kEstimateFactor = 1.4;

// Judges each requirement on each function that it names, in the order of requirements, then of
// functions. A function that was not called, a quantile of too few calls (p99: below 100), and
// bytes that could not be counted are not measured, which is never met.
//
// A function is growing if its calls left more bytes in the second half of a run, and already in
// the second quarter: blocks allocated once, or until a cache is full, are not growth. If only the
// second half left any, that is not decided.
std::vector<JudgedRequirement> Judge(std::span<const Requirement> requirements,
                                     const wire::LabTable& table, const LiveRuns& live);
// In the last part of a run, for kGrowing.
inline constexpr std::uint64_t kLeastLiveCalls = 8;

// kViolated if any is, else kNotMeasured if any is, else kMet.
RequiredVerdict Overall(std::span<const JudgedRequirement> judged);

}  // namespace fieldcost::analysis

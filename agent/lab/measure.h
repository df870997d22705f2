#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/lab/lab_run.h"
#include "agent/lab/plan.h"
#include "agent/lab/sums.h"
#include "common/base/result.h"

namespace fieldcost::lab {

// Measures one scenario: a plain run without the library, a map run, and rounds of timing runs.
// Each round runs every group of APIs once, in an order of its own, so that what drifts on the
// machine meets them all. Not thread-safe; one at a time in a process.

struct MeasureOptions {
  LabRunner runner;
  std::string apis;                  // globs "library!symbol", comma-separated; empty = all
  std::vector<std::string> isolate;  // such globs, for what gets runs of its own
  std::uint32_t rounds = 5;
  std::uint32_t warmup = 0;           // runs before all others, without the library
  std::optional<std::uint64_t> seed;  // of the order; none: from what is called, so that it repeats
  std::optional<std::chrono::milliseconds> max_time;  // of everything
  std::string prepare;                                // a shell command before each run
  std::string cleanup;                                // and one at the end
  // Exit statuses that are taken for good, and must be the plain run's later; empty: 0 alone.
  std::set<int> accepted_statuses;
  bool accept_any_status = false;
  bool plan_only = false;  // map and groups
  bool data_slots = false;
  std::uint64_t tsc_to_ns_multiplier = 0;
  bool repeats_disturbed = true;  // false: what a disturbed machine ran is kept, and counted
  // How long a loop of known work takes now, ns: the longer, the more disturbed is the machine.
  // Empty: it is measured.
  std::function<std::uint64_t()> plain_loop;
  // What of max_time is over. Empty: it is measured.
  std::function<std::chrono::nanoseconds()> elapsed;
};

struct MeasureProgress {
  enum class Step { kWarmup, kPlain, kMap, kTime };
  Step step = Step::kPlain;
  std::uint32_t round = 0;  // from 1
  std::uint32_t rounds = 0;
  std::uint32_t group = 0;  // of the round, from 1
  std::uint32_t groups = 0;
  std::chrono::nanoseconds left{};  // estimated by what runs have taken so far
};

enum class StoppedBy { kNothing, kInterrupt, kMaxTime, kTimeout, kPrepare, kDisk };

struct Measurement {
  Sums sums;
  Grouping grouping;
  ScenarioRun plain;
  std::uint64_t map_ns = 0;
  std::uint32_t programs = 0;    // that the map run found
  std::uint32_t candidates = 0;  // APIs that slots lead to, most of which are not called
  std::uint64_t seed = 0;
  std::uint32_t finished_rounds = 0;
  std::uint32_t accepted_runs = 0;
  std::uint32_t surprised_runs = 0;  // thrown away: an unplanned call
  std::uint32_t replans = 0;
  std::uint32_t disturbed_runs = 0;  // thrown away and repeated: the machine was disturbed
  std::uint32_t disturbed_kept = 0;  // kept, since repeating did not help or there was no time
  std::uint32_t failed_runs = 0;     // thrown away: another exit status than the plain run's
  std::uint32_t other_outputs = 0;   // runs whose output differed from the plain run's
  std::uint64_t lost_calls = 0;
  std::uint64_t lost_nodes = 0;   // calls counted in their callers' node: the tree was full
  std::uint32_t beyond_most = 0;  // APIs of programs with more than shm::kLabApis
  std::uint32_t too_long = 0;     // APIs whose names or versions are longer than a file takes
  std::set<std::string> left_out_names;  // of the first of both: "library!symbol"; untrusted
  std::uint32_t detached = 0;            // programs that could not be measured to their end
  std::uint32_t still_running = 0;
  std::uint32_t refused = 0;  // files of programs, or parts of them, that no calls could have made
  std::set<std::string> unmeasured;  // programs, escaped, that nothing can be loaded into, and why
  int cleanup_status = 0;
  StoppedBy stopped = StoppedBy::kNothing;
  std::string stop_detail;
  std::vector<std::string> unstable;  // APIs that no group could hold: not measured in all rounds
};

// kInvalidArgument: the scenario itself fails, with what it said last. kNotFound: the globs match
// nothing that is called, or there is no such program. kUnsupported: no program of it could be
// measured. kInternal: it fails only when measured. What stops it later leaves the finished rounds.
Result<Measurement> Measure(const MeasureOptions& options,
                            const std::function<void(const MeasureProgress&)>& progress);

}  // namespace fieldcost::lab

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/lab/lab_plan.h"
#include "agent/lab/lab_run.h"
#include "agent/lab/sums.h"
#include "common/base/result.h"

namespace fieldcost::lab {

// Measures one scenario: a plain run without the library, a map run, and rounds of timing runs.
// Each round runs every group of APIs once, in its own order, so that drift of the machine affects
// all groups. Not thread-safe; one at a time in a process.

struct MeasureOptions {
  LabRunner runner;
  std::string apis;                  // globs "library!symbol", comma-separated; empty = all
  std::vector<std::string> isolate;  // such globs, for APIs that are timed alone
  std::uint32_t rounds = 5;
  std::uint32_t warmup = 0;           // runs before all others, without the library
  std::optional<std::uint64_t> seed;  // for the order; nullopt: derived from the APIs called
  std::optional<std::chrono::milliseconds> max_time;  // for the whole measurement
  std::string prepare;                                // a shell command before each run
  std::string cleanup;                                // a shell command at the end
  // Exit statuses accepted from the plain run; later runs must have the same. Empty: only 0.
  std::set<int> accepted_statuses;
  bool accept_any_status = false;
  bool plan_only = false;  // only finds the map and groups
  bool data_slots = false;
  std::uint64_t tsc_to_ns_multiplier = 0;
  bool repeats_disturbed = true;  // false: disturbed runs are kept, and counted
  // Returns how long a loop of known work takes now, in ns: longer if the machine is disturbed.
  // Empty: PlainLoopNs().
  std::function<std::uint64_t()> plain_loop;
  // Returns the elapsed part of max_time. Empty: the clock is used.
  std::function<std::chrono::nanoseconds()> elapsed;
};

struct MeasureProgress {
  enum class Step { kWarmup, kPlain, kMap, kTime };
  Step step = Step::kPlain;
  std::uint32_t round = 0;  // from 1
  std::uint32_t rounds = 0;
  std::uint32_t group = 0;  // in the round, from 1
  std::uint32_t groups = 0;
  std::chrono::nanoseconds left{};  // estimated from the runs so far
};

enum class StoppedBy { kNothing, kInterrupt, kMaxTime, kTimeout, kPrepare, kDisk };

struct Measurement {
  Sums sums;
  Grouping grouping;
  ScenarioRun plain;
  std::uint64_t map_ns = 0;
  std::uint32_t programs = 0;    // found by the map run
  std::uint32_t candidates = 0;  // APIs that slots lead to; most are never called
  std::uint64_t seed = 0;
  std::uint32_t finished_rounds = 0;
  std::uint32_t accepted_runs = 0;
  std::uint32_t surprised_runs = 0;  // discarded: an unplanned call
  std::uint32_t replans = 0;
  std::uint32_t disturbed_runs = 0;  // discarded and repeated: the machine was disturbed
  std::uint32_t disturbed_kept = 0;  // kept, since repeating did not help or there was no time
  std::uint32_t failed_runs = 0;     // discarded: exit status differs from the plain run's
  std::uint32_t other_outputs = 0;   // runs whose output differed from the plain run's
  std::uint64_t lost_calls = 0;
  std::uint64_t lost_nodes = 0;   // calls counted in their callers' node: the tree was full
  std::uint32_t beyond_most = 0;  // APIs of programs with more than shm::kLabApis
  std::uint32_t too_long = 0;     // APIs with names or versions that are too long for the file
  std::set<std::string> left_out_names;  // the first few of both kinds: "library!symbol"; untrusted
  std::uint32_t detached = 0;            // programs not measured until they ended
  std::uint32_t still_running = 0;
  std::uint32_t refused = 0;         // programs' files, or parts of them, with impossible values
  std::set<std::string> unmeasured;  // programs (escaped) that cannot load a library, and why
  int cleanup_status = 0;
  StoppedBy stopped = StoppedBy::kNothing;
  std::string stop_detail;
  std::vector<std::string> unstable;  // APIs that fit no group: not measured in all rounds
};

// Returns kInvalidArgument if the scenario itself fails; the message contains the end of its
// standard error. kNotFound: the globs match no called API, or there is no such program.
// kUnsupported: none of its programs could be measured. kInternal: it fails only when measured. If
// it is stopped later, returns the finished rounds.
Result<Measurement> Measure(const MeasureOptions& options,
                            const std::function<void(const MeasureProgress&)>& progress);

}  // namespace fieldcost::lab

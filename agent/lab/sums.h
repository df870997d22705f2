#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/lab/lab_file_reader.h"
#include "agent/lab/lab_plan.h"
#include "agent/lab/lab_run.h"
#include "common/stats/contribution.h"

namespace fieldcost::lab {

// Sums over the runs of a scenario. Not thread-safe.

// Times of one API in one round, or in all of them.
struct TimeSums {
  std::uint64_t calls = 0;  // including untimed ones: inner calls of recursions, abandoned calls
  stats::CostHistogram time;
  stats::ContributionScalars scalars;  // contribution = run
  stats::CostHistogram cycles;         // of the same calls
  stats::ContributionScalars cycle_scalars;
  stats::LogSums log_time;
  std::map<std::uint32_t, stats::InputSums> by_argument;  // key: argument, 0..5
  stats::CostHistogram first_calls;                       // one value per process
  std::uint32_t processes = 0;
  std::uint64_t most_calls = 0;  // in one run

  void Merge(const TimeSums& other);
};

// The total of an API's calls in one run of the scenario: minimum and maximum over the counted
// runs.
struct RunTotal {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

// Totals by metric: kCallsPerRun, kAllocInclusive, and the metrics of shm::LabIoBlock.
using RunTotals = std::map<stats::Metric, RunTotal>;

// From the first map run that called the API, unless stated otherwise.
struct ApiSums {
  stats::ApiKey api;
  std::string path;
  std::uint64_t hash = 0;
  std::uint64_t calls = 0;
  stats::CostHistogram inclusive;
  stats::CostHistogram exclusive;
  stats::CostHistogram sizes;
  std::array<stats::CostHistogram, shm::kLabIoMetrics> moved;  // in the order of shm::LabIoBlock
  std::uint32_t not_measured = 0;                              // shm::NotMeasured, in any map run
  std::uint32_t first_map = 0;  // number of the map run, from 1; 0: no map run called it
  std::uint32_t map_runs = 0;   // number of map runs that called it
  RunTotals totals;             // over these runs
  std::uint64_t first_call_bytes = 0;
  std::uint64_t other_bytes = 0;
  // One per map run that called it; nullopt: not measured in some program of
  // that run.
  std::vector<std::optional<LiveBytes>> live;
  // Integer arguments with which costs may grow: below 2^32 in 99 of 100 calls,
  // and in at least 4 log2 buckets.
  std::vector<std::uint32_t> arguments;
  TimeSums times;
};

struct StackSums {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
};

// All results, by API.
class Sums {
 public:
  // Adds a map run's APIs and pairs; from the first map run, also the tree.
  void AddMap(const LabRun& map);
  std::uint32_t map_runs() const { return map_runs_; }
  // Totals over all map runs, including those that did not call it. Omits unknown values.
  RunTotals TotalsOf(const ApiSums& api) const;

  // Unplanned calls and pairs of a timing run, as indices of apis().
  struct Surprise {
    std::vector<std::uint32_t> apis;  // the APIs concerned
    bool any() const { return !apis.empty(); }
  };
  // Adds APIs that were called but not in the plan, and pairs that the plan considered impossible.
  // Recursion is not a surprise.
  Surprise LearnFrom(const LabRun& run);

  // Adds a timing run's times to `round`, by API; `argument` has, by API, the argument by which
  // times are broken down.
  void AddTimes(const LabRun& run, const std::vector<std::uint32_t>& argument,
                std::vector<TimeSums>& round) const;
  // Adds a finished round.
  void AddRound(const std::vector<TimeSums>& round);

  const std::vector<ApiSums>& apis() const { return apis_; }
  std::vector<ApiSums>& apis() { return apis_; }
  const std::set<std::pair<std::uint32_t, std::uint32_t>>& pairs() const { return pairs_; }
  PairGraph Graph() const;

  // The tree of APIs that called each other: (parent, API) -> node; node 0 is the root.
  const std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>& nodes() const {
    return nodes_;
  }
  const std::vector<StackSums>& stacks() const { return stacks_; }

 private:
  std::uint32_t IndexOf(const LabFileApi& api);
  std::optional<std::uint32_t> Find(std::uint64_t hash) const;
  void AddMapped(const LabFileApi& api, ApiSums& sums) const;
  void AddNodes(const LabFile& file, const std::vector<std::uint32_t>& index_of);

  std::vector<ApiSums> apis_;
  std::uint32_t map_runs_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> by_hash_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> nodes_;
  std::vector<StackSums> stacks_ = std::vector<StackSums>(1);
};

}  // namespace fieldcost::lab

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
#include "agent/lab/lab_run.h"
#include "agent/lab/plan.h"
#include "common/stats/contribution.h"

namespace fieldcost::lab {

// What the runs of a scenario add up to. Not thread-safe.

// Times of one API in one round, or in all of them.
struct TimeSums {
  std::uint64_t calls = 0;  // timed or not: inner calls of recursions, and those that were left
  stats::CostHistogram time;
  stats::ContributionScalars scalars;  // contribution = run
  stats::CostHistogram cycles;         // of the same calls
  stats::ContributionScalars cycle_scalars;
  stats::LogSums log_time;
  std::map<std::uint32_t, stats::InputSums> by_argument;  // by argument, 0..5
  stats::CostHistogram first_calls;                       // one value a process
  std::uint32_t processes = 0;
  std::uint64_t most_calls = 0;  // in one run

  void Merge(const TimeSums& other);
};

// What the calls of an API come to in a run of the scenario: least and most of the runs that were
// counted.
struct RunTotal {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

// What a run is counted by: kCallsPerRun, kAllocInclusive, and the metrics of shm::LabIoBlock.
using RunTotals = std::map<stats::Metric, RunTotal>;

// Of the first map run that called it, unless stated otherwise.
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
  std::uint32_t map_runs = 0;   // that called it
  RunTotals totals;             // of these
  std::uint64_t first_call_bytes = 0;
  std::uint64_t other_bytes = 0;
  // Integer arguments that costs may grow with: below 2^32 in 99 of 100 calls, in 4 log2 buckets or
  // more.
  std::vector<std::uint32_t> arguments;
  TimeSums times;
};

struct StackSums {
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
};

// Everything that was found, by API.
class Sums {
 public:
  // Takes from a map run what is called, and what shares a stack. Of the first, also the tree.
  void AddMap(const LabRun& map);
  std::uint32_t map_runs() const { return map_runs_; }
  // Over all map runs, also those that did not call it. Unknown values are left out.
  RunTotals TotalsOf(const ApiSums& api) const;

  // What a timing run showed that was not planned, as indices of apis().
  struct Surprise {
    std::vector<std::uint32_t> apis;  // that it concerns
    bool any() const { return !apis.empty(); }
  };
  // Adds APIs that were called although the plan did not know them, and pairs that it took for
  // impossible. Recursion is no surprise.
  Surprise LearnFrom(const LabRun& run);

  // Adds a timing run's times to `round`, by API; `argument` says, by API, which argument the times
  // are told apart by.
  void AddTimes(const LabRun& run, const std::vector<std::uint32_t>& argument,
                std::vector<TimeSums>& round) const;
  // Adds a round that is finished.
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

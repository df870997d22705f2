#include "agent/lab/sums.h"

#include <algorithm>

#include "common/shm/log2_bucket.h"

namespace fieldcost::lab {
namespace {

// Returns the integer arguments that may be a size: see ApiSums::arguments.
std::vector<std::uint32_t> SizesAmong(const LabFileApi& api) {
  constexpr unsigned kSmallSlots = 33;  // below 2^32
  constexpr unsigned kLeastBuckets = 4;
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t i = 0; i < shm::kLabArguments; ++i) {
    std::uint64_t all = 0;
    std::uint64_t small = 0;
    unsigned buckets = 0;
    for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
      const std::uint64_t calls = api.arguments[i][slot];
      all += calls;
      if (slot >= kSmallSlots) continue;
      small += calls;
      if (calls != 0) ++buckets;
    }
    if (buckets >= kLeastBuckets && small / 99 >= all / 100 && small * 100 >= all * 99) {
      sizes.push_back(i);
    }
  }
  return sizes;
}

std::uint64_t Clamped(stats::Uint128 sum) {
  constexpr stats::Uint128 kMost = std::uint64_t{1} << 62;
  return static_cast<std::uint64_t>(std::min(sum, kMost));
}

constexpr auto kFirstIo = static_cast<unsigned>(stats::Metric::kDiskRead);

using RunCounts = std::map<stats::Metric, std::uint64_t>;

// Adds the totals of one program's calls of an API.
void Count(const LabFileApi& api, RunCounts& counts) {
  counts[stats::Metric::kCallsPerRun] += api.calls;
  counts[stats::Metric::kAllocInclusive] += Clamped(api.inclusive.sum());
  for (std::uint32_t i = 0; i < shm::kLabIoMetrics; ++i) {
    counts[static_cast<stats::Metric>(kFirstIo + i)] += Clamped(api.moved[i].sum());
  }
}

}  // namespace

void TimeSums::Merge(const TimeSums& other) {
  calls += other.calls;
  time.Merge(other.time);
  scalars.Merge(other.scalars);
  cycles.Merge(other.cycles);
  cycle_scalars.Merge(other.cycle_scalars);
  log_time.Merge(other.log_time);
  for (const auto& [argument, sums] : other.by_argument) by_argument[argument].Merge(sums);
  first_calls.Merge(other.first_calls);
  processes += other.processes;
  most_calls = std::max(most_calls, other.most_calls);
}

std::optional<std::uint32_t> Sums::Find(std::uint64_t hash) const {
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) return std::nullopt;
  return found->second;
}

std::uint32_t Sums::IndexOf(const LabFileApi& api) {
  const auto [at, is_new] = by_hash_.emplace(api.hash, static_cast<std::uint32_t>(apis_.size()));
  if (is_new) {
    apis_.emplace_back();
    apis_.back().api = api.api;
    apis_.back().path = api.path;
    apis_.back().hash = api.hash;
  }
  return at->second;
}

void Sums::AddNodes(const LabFile& file, const std::vector<std::uint32_t>& index_of) {
  std::vector<std::uint32_t> node_of(file.nodes.size());
  for (std::size_t i = 0; i < file.nodes.size(); ++i) {
    const LabFileNode& node = file.nodes[i];
    const std::uint32_t parent = node.parent == LabFileNode::kRoot ? 0 : node_of[node.parent];
    const auto [at, is_new] = nodes_.emplace(std::pair(parent, index_of[node.api]),
                                             static_cast<std::uint32_t>(stacks_.size()));
    if (is_new) stacks_.emplace_back();
    node_of[i] = at->second;
    stacks_[at->second].calls += node.calls;
    stacks_[at->second].bytes += node.bytes;
  }
}

void Sums::AddMapped(const LabFileApi& api, ApiSums& sums) const {
  sums.not_measured |= api.not_measured;
  if (sums.first_map == 0) sums.first_map = map_runs_;
  if (sums.first_map != map_runs_) return;
  sums.calls += api.calls;
  sums.inclusive.Merge(api.inclusive);
  sums.exclusive.Merge(api.exclusive);
  sums.sizes.Merge(api.sizes);
  for (std::uint32_t i = 0; i < shm::kLabIoMetrics; ++i) sums.moved[i].Merge(api.moved[i]);
  const std::uint64_t first = api.first_call_bytes.value_or(0);
  const std::uint64_t all = Clamped(api.inclusive.sum());
  sums.first_call_bytes += first;
  sums.other_bytes += all - std::min(all, first);
  for (const std::uint32_t argument : SizesAmong(api)) {
    if (std::find(sums.arguments.begin(), sums.arguments.end(), argument) == sums.arguments.end()) {
      sums.arguments.push_back(argument);
    }
  }
}

void Sums::AddMap(const LabRun& map) {
  ++map_runs_;
  std::map<std::uint32_t, RunCounts> of_run;
  std::map<std::uint32_t, std::optional<LiveBytes>> live;
  for (const LabFile& file : map.files) {
    std::vector<std::uint32_t> index_of;
    for (const LabFileApi& api : file.apis) {
      index_of.push_back(IndexOf(api));
      if (api.calls == 0) continue;
      AddMapped(api, apis_[index_of.back()]);
      Count(api, of_run[index_of.back()]);
      const auto [sum, is_first] = live.emplace(index_of.back(), api.live);
      if (!is_first && sum->second && api.live) sum->second->Merge(*api.live);
      if (!is_first && !api.live) sum->second.reset();
    }
    for (const auto& [outer, inner] : file.pairs) pairs_.emplace(index_of[outer], index_of[inner]);
    if (map_runs_ == 1) AddNodes(file, index_of);
  }
  for (const auto& [index, counts] : of_run) {
    ApiSums& sums = apis_[index];
    ++sums.map_runs;
    sums.live.push_back(live[index]);
    for (const auto& [metric, count] : counts) {
      const auto [total, is_new] = sums.totals.emplace(metric, RunTotal{count, count});
      if (is_new) continue;
      total->second.least = std::min(total->second.least, count);
      total->second.most = std::max(total->second.most, count);
    }
  }
}

RunTotals Sums::TotalsOf(const ApiSums& api) const {
  if (api.map_runs == 0) {
    return {{stats::Metric::kCallsPerRun, {.least = 0, .most = api.times.most_calls}}};
  }
  RunTotals totals = api.totals;
  const shm::MetricSet none = shm::MetricsNotMeasured(api.not_measured);
  std::erase_if(totals,
                [none](const auto& total) { return (none & shm::BitOf(total.first)) != 0; });
  if (api.map_runs < map_runs_) {
    for (auto& [metric, total] : totals) total.least = 0;
  }
  return totals;
}

Sums::Surprise Sums::LearnFrom(const LabRun& run) {
  Surprise surprise;
  for (const LabFile& file : run.files) {
    std::vector<std::uint32_t> index_of;
    for (const LabFileApi& api : file.apis) {
      index_of.push_back(IndexOf(api));
      if (api.sighted) surprise.apis.push_back(index_of.back());
    }
    for (const auto& [outer, inner] : file.pairs) {
      if (outer == inner) continue;
      pairs_.emplace(index_of[outer], index_of[inner]);
      surprise.apis.push_back(index_of[outer]);
      surprise.apis.push_back(index_of[inner]);
    }
  }
  std::sort(surprise.apis.begin(), surprise.apis.end());
  surprise.apis.erase(std::unique(surprise.apis.begin(), surprise.apis.end()), surprise.apis.end());
  return surprise;
}

void Sums::AddTimes(const LabRun& run, const std::vector<std::uint32_t>& argument,
                    std::vector<TimeSums>& round) const {
  struct OfRun {
    stats::CostHistogram time;
    stats::CostHistogram cycles;
    std::uint64_t calls = 0;
  };
  std::map<std::uint32_t, OfRun> of_run;
  for (const LabFile& file : run.files) {
    for (const LabFileApi& api : file.apis) {
      const auto index = Find(api.hash);
      if (!index || *index >= round.size() || api.calls == 0) continue;
      TimeSums& sums = round[*index];
      sums.calls += api.calls;
      of_run[*index].calls += api.calls;
      if (api.time.empty()) continue;
      of_run[*index].time.Merge(api.time);
      of_run[*index].cycles.Merge(api.cycles);
      sums.log_time.Merge(api.log_time);
      if (argument[*index] < shm::kLabArguments) {
        sums.by_argument[argument[*index]].Merge(api.by_argument);
      }
      if (api.first_call_ns) sums.first_calls.Add(*api.first_call_ns);
      ++sums.processes;
    }
  }
  for (const auto& [index, one] : of_run) {
    TimeSums& sums = round[index];
    sums.time.Merge(one.time);
    sums.scalars.Merge(stats::ScalarsOf(one.time));
    sums.cycles.Merge(one.cycles);
    sums.cycle_scalars.Merge(stats::ScalarsOf(one.cycles));
    sums.most_calls = std::max(sums.most_calls, one.calls);
  }
}

void Sums::AddRound(const std::vector<TimeSums>& round) {
  for (std::size_t i = 0; i < round.size(); ++i) apis_[i].times.Merge(round[i]);
}

PairGraph Sums::Graph() const {
  PairGraph graph(
      static_cast<std::uint32_t>(std::min<std::size_t>(apis_.size(), PairGraph::kMostApis)));
  for (const auto& [outer, inner] : pairs_) {
    if (outer < graph.count() && inner < graph.count()) graph.AddPair(outer, inner);
  }
  return graph;
}

}  // namespace fieldcost::lab

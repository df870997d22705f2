#include "agent/lab/sums.h"

#include <algorithm>

#include "common/shm/log2_bucket.h"

namespace fieldcost::lab {
namespace {

// Integer arguments that may be a size: see ApiSums::arguments.
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

}  // namespace

void TimeSums::Merge(const TimeSums& other) {
  calls += other.calls;
  time.Merge(other.time);
  scalars.Merge(other.scalars);
  log_time.Merge(other.log_time);
  for (const auto& [argument, sums] : other.by_argument) by_argument[argument].Merge(sums);
  first_calls.Merge(other.first_calls);
  processes += other.processes;
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

void Sums::AddMap(const LabRun& map) {
  for (const LabFile& file : map.files) {
    std::vector<std::uint32_t> index_of;
    for (const LabFileApi& api : file.apis) {
      index_of.push_back(IndexOf(api));
      ApiSums& sums = apis_[index_of.back()];
      sums.calls += api.calls;
      sums.inclusive.Merge(api.inclusive);
      sums.exclusive.Merge(api.exclusive);
      sums.sizes.Merge(api.sizes);
      const std::uint64_t first = api.first_call_bytes.value_or(0);
      const std::uint64_t all = Clamped(api.inclusive.sum());
      sums.first_call_bytes += first;
      sums.other_bytes += all - std::min(all, first);
      for (const std::uint32_t argument : SizesAmong(api)) {
        if (std::find(sums.arguments.begin(), sums.arguments.end(), argument) ==
            sums.arguments.end()) {
          sums.arguments.push_back(argument);
        }
      }
    }
    for (const auto& [outer, inner] : file.pairs) pairs_.emplace(index_of[outer], index_of[inner]);
    AddNodes(file, index_of);
  }
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
  std::map<std::uint32_t, stats::CostHistogram> of_run;
  for (const LabFile& file : run.files) {
    for (const LabFileApi& api : file.apis) {
      const auto index = Find(api.hash);
      if (!index || *index >= round.size() || api.calls == 0) continue;
      TimeSums& sums = round[*index];
      sums.calls += api.calls;
      if (api.time.empty()) continue;
      of_run[*index].Merge(api.time);
      sums.log_time.Merge(api.log_time);
      if (argument[*index] < shm::kLabArguments) {
        sums.by_argument[argument[*index]].Merge(api.by_argument);
      }
      if (api.first_call_ns) sums.first_calls.Add(*api.first_call_ns);
      ++sums.processes;
    }
  }
  for (const auto& [index, histogram] : of_run) {
    round[index].time.Merge(histogram);
    round[index].scalars.Merge(stats::ScalarsOf(histogram));
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

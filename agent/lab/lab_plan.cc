#include "agent/lab/lab_plan.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "agent/lab/seeded_draw.h"
#include "common/base/check.h"

namespace fieldcost::lab {
namespace {

using Groups = std::vector<std::vector<std::uint32_t>>;
using Bits = std::vector<std::uint64_t>;

// Shares of kMostGroupSteps; the rest is for iterated greedy.
constexpr std::uint64_t kMostCliqueSteps = kMostGroupSteps / 8;
constexpr int kMostRounds = 2000;  // of iterated greedy

// The purposes of random numbers; each has its own stream for the same seed.
enum Stream : std::uint64_t { kTies = 0, kRounds = 1 };

template <typename Visit>
void ForEachBit(std::span<const std::uint64_t> row, Visit visit) {
  for (std::uint32_t word = 0; word < row.size(); ++word) {
    for (std::uint64_t left = row[word]; left != 0; left &= left - 1) {
      visit(word * 64 + static_cast<std::uint32_t>(std::countr_zero(left)));
    }
  }
}

bool Has(std::span<const std::uint64_t> bits, std::uint32_t at) {
  return (bits[at / 64] >> (at % 64) & 1U) != 0;
}
void Set(Bits& bits, std::uint32_t at) { bits[at / 64] |= std::uint64_t{1} << (at % 64); }
void Unset(Bits& bits, std::uint32_t at) { bits[at / 64] &= ~(std::uint64_t{1} << (at % 64)); }

// Groups the APIs of a graph that are not isolated.
class Grouper {
 public:
  Grouper(const PairGraph& graph, std::span<const std::uint32_t> isolated, std::uint64_t seed)
      : graph_(graph), seed_(seed), shared_(graph.words()), degree_(graph.count()) {
    for (std::uint32_t api = 0; api < graph.count(); ++api) Set(shared_, api);
    for (const std::uint32_t api : isolated) Unset(shared_, api);
    ForEachBit(shared_, [&](std::uint32_t api) { apis_.push_back(api); });
    for (const std::uint32_t api : apis_) {
      ForEachShared(graph.Neighbours(api), [&](std::uint32_t) { ++degree_[api]; });
    }
    // Sorts by number of neighbours, ties by the seed.
    SeededDraw(seed, kTies).Shuffle(apis_);
    std::ranges::stable_sort(
        apis_, [&](std::uint32_t a, std::uint32_t b) { return degree_[a] > degree_[b]; });
  }

  std::uint64_t steps() const { return steps_; }

  // Searches greedily from each API, trying those with the most neighbours first.
  std::vector<std::uint32_t> FindClique();
  Groups Dsatur();
  // nullopt if an API was both above and below another.
  std::optional<Groups> Layers();
  // Improves until there are `fewest` or the steps are used up.
  void Improve(Groups& groups, std::size_t fewest);

 private:
  template <typename Visit>
  void ForEachShared(std::span<const std::uint64_t> row, Visit visit) {
    steps_ += row.size();
    ForEachBit(row, [&](std::uint32_t api) {
      ++steps_;
      if (Has(shared_, api)) visit(api);
    });
  }
  // Puts each API into the first group that has none of its neighbours.
  Groups FirstFit(std::vector<std::uint32_t> order);

  const PairGraph& graph_;
  std::uint64_t seed_;
  Bits shared_;  // the APIs that are not isolated
  std::vector<std::uint32_t> apis_;
  std::vector<std::uint32_t> degree_;
  std::uint64_t steps_ = 0;
};

std::vector<std::uint32_t> Grouper::FindClique() {
  std::vector<std::uint32_t> best;
  const std::uint64_t end = steps_ + kMostCliqueSteps;
  for (const std::uint32_t first : apis_) {
    if (degree_[first] + 1 <= best.size() || steps_ >= end) break;  // no larger clique contains it
    std::vector<std::uint32_t> clique = {first};
    const auto row = graph_.Neighbours(first);
    Bits candidates(row.begin(), row.end());
    for (const std::uint32_t api : apis_) {
      if (!Has(candidates, api)) continue;
      clique.push_back(api);
      const auto neighbours = graph_.Neighbours(api);
      for (std::size_t word = 0; word < candidates.size(); ++word) {
        candidates[word] &= neighbours[word];
      }
    }
    steps_ += apis_.size() + clique.size() * candidates.size();
    if (clique.size() > best.size()) best = std::move(clique);
  }
  std::ranges::sort(best);
  return best;
}

Groups Grouper::Dsatur() {
  Groups groups;
  const std::size_t words = graph_.words();
  Bits taken(graph_.count() * words);  // one row per API: the groups of its neighbours
  std::vector<std::uint32_t> saturation(graph_.count());
  std::vector<std::uint32_t> left = apis_;
  while (!left.empty()) {
    const auto next = std::ranges::max_element(
        left, [&](std::uint32_t a, std::uint32_t b) { return saturation[a] < saturation[b]; });
    const std::uint32_t api = *next;
    steps_ += left.size() + words;
    left.erase(next);
    std::uint32_t group = 0;
    while (Has({&taken[api * words], words}, group)) ++group;
    if (group == groups.size()) groups.emplace_back();
    groups[group].push_back(api);
    ForEachShared(graph_.Neighbours(api), [&](std::uint32_t neighbour) {
      std::uint64_t& word = taken[neighbour * words + group / 64];
      const std::uint64_t bit = std::uint64_t{1} << (group % 64);
      if ((word & bit) == 0) ++saturation[neighbour];
      word |= bit;
    });
  }
  return groups;
}

std::optional<Groups> Grouper::Layers() {
  std::vector<std::uint32_t> above(graph_.count());  // the number of APIs above it without a layer
  for (const std::uint32_t api : apis_) {
    ForEachShared(graph_.EnteredUnder(api), [&](std::uint32_t inner) { ++above[inner]; });
  }
  std::vector<std::uint32_t> ready;
  for (const std::uint32_t api : apis_) {
    if (above[api] == 0) ready.push_back(api);
  }
  std::vector<std::uint32_t> layer(graph_.count());  // the longest path from an outermost API
  Groups groups;
  for (std::size_t done = 0; done < ready.size(); ++done) {
    const std::uint32_t api = ready[done];
    groups.resize(std::max<std::size_t>(groups.size(), layer[api] + 1));
    groups[layer[api]].push_back(api);
    ForEachShared(graph_.EnteredUnder(api), [&](std::uint32_t inner) {
      layer[inner] = std::max(layer[inner], layer[api] + 1);
      if (--above[inner] == 0) ready.push_back(inner);
    });
  }
  if (ready.size() != apis_.size()) return std::nullopt;
  return groups;
}

Groups Grouper::FirstFit(std::vector<std::uint32_t> order) {
  Groups groups;
  while (!order.empty()) {
    std::vector<std::uint32_t>& group = groups.emplace_back();
    Bits refused(graph_.words());
    std::size_t kept = 0;
    steps_ += order.size();
    for (const std::uint32_t api : order) {
      if (Has(refused, api)) {
        order[kept++] = api;
        continue;
      }
      group.push_back(api);
      const auto neighbours = graph_.Neighbours(api);
      for (std::size_t word = 0; word < refused.size(); ++word) refused[word] |= neighbours[word];
    }
    steps_ += group.size() * refused.size();
    order.resize(kept);
  }
  return groups;
}

// First fit, group by group in any order, never increases the number of groups. The order
// (reversed, largest first or shuffled) is drawn with the probabilities that Culberson and Luo
// found best.
void Grouper::Improve(Groups& groups, std::size_t fewest) {
  SeededDraw draw(seed_, kRounds);
  for (int round = 0; round < kMostRounds && groups.size() > fewest; ++round) {
    const std::uint64_t most = (groups.size() + graph_.words()) * apis_.size();
    if (steps_ + most > kMostGroupSteps) return;
    const std::uint64_t kind = draw.Below(13);
    if (kind < 5) {
      std::ranges::reverse(groups);
    } else {
      draw.Shuffle(groups);
      if (kind < 10) {
        std::ranges::stable_sort(groups, std::greater<>{}, [](const auto& g) { return g.size(); });
      }
    }
    std::vector<std::uint32_t> order;
    for (auto& group : groups) {
      draw.Shuffle(group);
      order.insert(order.end(), group.begin(), group.end());
    }
    groups = FirstFit(std::move(order));
  }
}

}  // namespace

PairGraph::PairGraph(std::uint32_t count) : count_(count), words_((count + 63) / 64) {
  FIELDCOST_CHECK(count <= kMostApis);
  entered_.resize(std::size_t{count} * words_);
  neighbours_.resize(std::size_t{count} * words_);
}

void PairGraph::AddPair(std::uint32_t outer, std::uint32_t inner) {
  FIELDCOST_CHECK(outer < count_ && inner < count_);
  if (outer == inner) return;
  const auto set = [this](std::vector<std::uint64_t>& rows, std::uint32_t row, std::uint32_t at) {
    rows[std::size_t{row} * words_ + at / 64] |= std::uint64_t{1} << (at % 64);
  };
  set(entered_, outer, inner);
  set(neighbours_, outer, inner);
  set(neighbours_, inner, outer);
}

Grouping GroupApis(const PairGraph& graph, const GroupOptions& options) {
  std::vector<std::uint32_t> isolated = options.isolated;
  std::ranges::sort(isolated);
  isolated.erase(std::unique(isolated.begin(), isolated.end()), isolated.end());
  FIELDCOST_CHECK(isolated.empty() || isolated.back() < graph.count());

  Grouper grouper(graph, isolated, options.seed);
  Grouping grouping;
  grouping.clique = grouper.FindClique();
  grouping.groups = grouper.Dsatur();
  if (const auto layers = grouper.Layers(); layers && layers->size() < grouping.groups.size()) {
    grouping.groups = *layers;
  }
  grouper.Improve(grouping.groups, grouping.clique.size());
  for (auto& group : grouping.groups) std::ranges::sort(group);
  for (const std::uint32_t api : isolated) grouping.groups.push_back({api});
  std::ranges::sort(grouping.groups);
  grouping.lower_bound = static_cast<std::uint32_t>(grouping.clique.size() + isolated.size());
  grouping.is_fewest = grouping.groups.size() == grouping.lower_bound;
  grouping.steps = grouper.steps();
  return grouping;
}

std::vector<std::uint32_t> ShuffledOrder(std::uint32_t count, std::uint64_t seed,
                                         std::uint32_t round) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  SeededDraw(seed, round).Shuffle(order);
  return order;
}

}  // namespace fieldcost::lab

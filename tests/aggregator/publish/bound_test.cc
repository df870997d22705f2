// How far some hostile agents among many can shift published figures: at most as far as BOUNDS.md
// states, for anything they send. Covers the store, the sum over weeks and classes, and a
// fragment's bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "aggregator/publish/collapse.h"
#include "common/stats/contribution_sizes.h"
#include "common/stats/quantiles.h"
#include "common/stats/stat_row.h"
#include "common/wire/fragment.h"
#include "tests/common/stats/slot_of_quantile.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::publish {
namespace {

using stats::BoundedSums;
using stats::CostHistogram;
using stats::Uint128;

// The most calls that ingest accepts in one row.
constexpr std::uint64_t kMostCalls = std::uint64_t{1} << 40;

void AddCalls(CostHistogram& histogram, std::uint64_t calls, std::uint64_t cost) {
  CostHistogram added;
  added.SetBucket(shm::SlotOf(cost), {.count = calls,
                                      .sum = Uint128{calls} * cost,
                                      .sum_of_squares = Uint128{calls} * cost * cost});
  histogram.Merge(added);
}

// What each agent contributes to one row, and what the hostile ones add to it later.
struct Scene {
  std::vector<CostHistogram> honest;
  std::vector<CostHistogram> hostile;
  CostHistogram later;

  std::size_t agents() const { return honest.size() + hostile.size(); }
};

enum class Attack { kTiny, kHuge, kOneHugeCall, kManyFreeCalls, kAtTheCap, kAnything };
constexpr unsigned kAttacks = 6;

class Scenes {
 public:
  explicit Scenes(std::uint64_t seed) : random_(seed) {}

  // Fleets range from identical machines to machines 20 octaves apart; in some, many machines have
  // zero cost.
  CostHistogram Honest(unsigned center, unsigned spread, bool is_free) {
    CostHistogram histogram;
    for (std::uint64_t parts = 1 + random_() % 4; parts > 0; --parts) {
      const std::uint64_t cost = is_free ? 0 : Around(center + 8, spread);
      AddCalls(histogram, Around(center, spread), cost);
    }
    return histogram;
  }

  CostHistogram Hostile(Attack attack, unsigned center) {
    CostHistogram histogram;
    switch (attack) {
      case Attack::kTiny:
        AddCalls(histogram, 1, 0);
        break;
      case Attack::kHuge:
        AddCalls(histogram, kMostCalls, std::uint64_t{1} << 32);
        break;
      case Attack::kOneHugeCall:
        AddCalls(histogram, 1, std::uint64_t{1} << 50);
        break;
      case Attack::kManyFreeCalls:
        AddCalls(histogram, kMostCalls, 0);
        break;
      case Attack::kAtTheCap:
        AddCalls(histogram, Around(center + stats::kSizeCapOctaves, 2), Around(center + 8, 2));
        break;
      case Attack::kAnything:
        AddCalls(histogram, random_() % kMostCalls + 1, random_() >> (32 + random_() % 32));
        break;
    }
    return histogram;
  }

  Scene Any(unsigned most_agents) {
    Scene scene;
    const auto agents = 1 + static_cast<unsigned>(random_() % most_agents);
    const auto hostile = static_cast<unsigned>(random_() % ((agents + 1) / 2));  // fewer than half
    const auto center = static_cast<unsigned>(2 + random_() % 16);
    const auto spread = static_cast<unsigned>(random_() % 12);
    const std::uint64_t free_of_8 = random_() % 12;
    for (unsigned i = 0; i < agents - hostile; ++i) {
      scene.honest.push_back(Honest(center, spread, random_() % 8 < free_of_8 && free_of_8 < 8));
    }
    const std::uint64_t one_attack = random_() % (2 * kAttacks);  // from kAttacks on: mixed
    for (unsigned i = 0; i < hostile; ++i) {
      const std::uint64_t attack = one_attack < kAttacks ? one_attack : random_() % kAttacks;
      scene.hostile.push_back(Hostile(static_cast<Attack>(attack), center));
    }
    for (std::uint64_t rows = random_() % 5; rows > 0; --rows) {
      scene.later.Merge(Hostile(static_cast<Attack>(random_() % kAttacks), center));
    }
    return scene;
  }

 private:
  std::uint64_t Around(unsigned center, unsigned spread) {
    const auto octave = static_cast<unsigned>(center + random_() % (spread + 1));
    return (std::uint64_t{1} << octave) + random_() % (std::uint64_t{1} << octave);
  }

  std::mt19937_64 random_;
};

std::uint64_t CapFor(std::uint64_t size) {
  return shm::SlotMax(std::min(shm::SlotOf(size) + stats::kSizeCapOctaves, shm::kBucketSlots - 1));
}

Uint128 SumUpTo(const std::vector<std::uint64_t>& sizes, std::uint64_t cap) {
  Uint128 sum = 0;
  for (const std::uint64_t size : sizes) sum += std::min(size, cap);
  return sum;
}

struct Interval {
  Uint128 low;
  Uint128 high;
};

// Returns W(c_lo) and W(c_hi) + m * c_hi of BOUNDS.md.
Interval BoundOf(std::vector<std::uint64_t> honest, std::size_t hostile) {
  std::sort(honest.begin(), honest.end());
  const std::size_t rank = (honest.size() + hostile + 1) / 2;  // of the lower median, from 1
  const std::uint64_t low_cap = CapFor(honest[rank - hostile - 1]);
  const std::uint64_t high_cap = CapFor(honest[rank - 1]);
  return {SumUpTo(honest, low_cap), SumUpTo(honest, high_cap) + Uint128{hostile} * high_cap};
}

std::vector<std::uint64_t> CallsOf(const std::vector<CostHistogram>& histograms) {
  std::vector<std::uint64_t> calls;
  for (const CostHistogram& histogram : histograms) calls.push_back(histogram.count());
  return calls;
}

std::vector<std::uint64_t> SumsOf(const std::vector<CostHistogram>& histograms) {
  std::vector<std::uint64_t> sums;
  for (const CostHistogram& histogram : histograms) sums.push_back(stats::Low64(histogram.sum()));
  return sums;
}

// A store with one API per scene, and what is published from it.
class Field {
 public:
  explicit Field(const std::vector<Scene>& scenes) : scenes_(scenes) {
    auto store = store::Store::Open({.data_dir = dir_.path(), .checkpoint_seconds = 0});
    EXPECT_TRUE(store.has_value());
    store_ = std::move(*store);
    std::size_t agents = 0;
    for (const Scene& scene : scenes) agents = std::max(agents, scene.agents());
    for (std::size_t agent = 0; agent < agents; ++agent) {
      store::AcceptedRows rows;
      for (std::size_t api = 0; api < scenes.size(); ++api) {
        const Scene& scene = scenes[api];
        if (agent >= scene.agents()) continue;
        const std::size_t honest = scene.honest.size();
        rows.Add(KeyOf(api, agent),
                 agent < honest ? scene.honest[agent] : scene.hostile[agent - honest],
                 store::Contribution::kFirst);
      }
      Accept(agent, 1, rows);
    }
  }

  // Adds what hostile agents send after they have contributed.
  void SendLater() {
    store::AcceptedRows rows;
    for (std::size_t api = 0; api < scenes_.size(); ++api) {
      if (scenes_[api].later.empty()) continue;
      rows.Add(KeyOf(api, api), scenes_[api].later, store::Contribution::kNone);
    }
    Accept(0, 2, rows);
  }

  // Returns the rows over all classes, as a reader sees them.
  std::vector<stats::StatRow> Published() const {
    std::vector<stats::StatRow> rows;
    const auto snapshot = store_->TakeSnapshot();
    EXPECT_TRUE(snapshot.has_value());
    const auto counts = Collapse(
        *snapshot, snapshot->Split(1).front(), 1,
        [&](const stats::RowKey& key, const store::CompactRow& row, const stats::QuarterScalars&) {
          if (key.hardware != stats::HardwareClass{}) return Status();
          rows.push_back(
              {key, row.ToHistogram(), row.scalars, row.ToWeights(), row.sizes.Bounded()});
          return Status();
        });
    EXPECT_TRUE(counts.has_value());
    EXPECT_EQ(rows.size(), scenes_.size());
    auto fragment = wire::EncodeFragment(rows);
    EXPECT_TRUE(fragment.has_value()) << fragment.error().message;
    return wire::DecodeFragment(*fragment).value();
  }

 private:
  // Spreads agents over several classes and weeks.
  static stats::RowKey KeyOf(std::size_t api, std::size_t agent) {
    return {
        .api = {.soname = "libsample.so.1", .symbol = fmt::format("sample_{:04}", api)},
        .hardware = {.architecture = "x86_64", .log2_cores = static_cast<std::uint32_t>(agent % 3)},
        .week = static_cast<std::uint32_t>(2900 + agent % 2)};
  }
  void Accept(std::size_t agent, std::uint64_t sequence, const store::AcceptedRows& rows) {
    std::string agent_id(store::kAgentIdBytes, '.');
    agent_id[0] = static_cast<char>(agent);
    const auto result = store_->Accept({.agent_id = agent_id,
                                        .epoch = wire::Epoch(1),
                                        .sequence = wire::Sequence(sequence),
                                        .rows = &rows,
                                        .answer = "ok"});
    ASSERT_TRUE(result.has_value()) << result.error().message;
  }

  const testing::TempDir dir_;
  const std::vector<Scene>& scenes_;
  std::unique_ptr<store::Store> store_;
};

void ExpectWithinBound(const Scene& scene, const stats::StatRow& row) {
  const auto honest = static_cast<double>(scene.honest.size());
  const std::size_t hostile = scene.hostile.size();
  // (a) Quantiles over machines, such as the median.
  stats::AgentWeights weights;
  for (const CostHistogram& histogram : scene.honest) {
    weights.Merge(stats::WeightsOf(histogram));
  }
  const double epsilon = static_cast<double>(hostile) / static_cast<double>(scene.agents());
  const double rounding = shm::kBucketSlots / 65536.0 / (1 - epsilon);
  for (const double p : {0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99}) {
    const stats::Quantile quantile = EstimateWeightedQuantile(row.histogram, row.weights, p);
    const unsigned slot = shm::SlotOf(static_cast<std::uint64_t>(quantile.low));
    const double low = (p - epsilon) / (1 - epsilon) - rounding;
    const double high = p / (1 - epsilon) + rounding;
    if (low > 0) {
      EXPECT_GE(slot, testing::SlotOfQuantile(weights, low)) << p;
    }
    if (high < 1) {
      EXPECT_LE(slot, testing::SlotOfQuantile(weights, high)) << p;
    }
  }
  // (b) Calls, costs and their mean.
  const BoundedSums& bounded = row.bounded;
  const Interval calls = BoundOf(CallsOf(scene.honest), hostile);
  const Interval sum = BoundOf(SumsOf(scene.honest), hostile);
  EXPECT_TRUE(calls.low <= bounded.calls && bounded.calls <= calls.high);
  EXPECT_TRUE(sum.low <= bounded.sum && bounded.sum <= sum.high);
  EXPECT_GE(bounded.Mean() * (1 + 1e-12),
            static_cast<double>(sum.low) / static_cast<double>(calls.high));
  EXPECT_LE(bounded.Mean(),
            static_cast<double>(sum.high) / static_cast<double>(calls.low) * (1 + 1e-12));
  // (c) The number of contributions.
  EXPECT_EQ(bounded.contributions, scene.agents());
  EXPECT_EQ(row.scalars.contributions, scene.agents());
  EXPECT_EQ(row.weights.Contributions(), scene.agents());
  // The mean of the machines' means, in octaves.
  double of_honest = 0;
  for (const CostHistogram& histogram : scene.honest) {
    of_honest += static_cast<double>(stats::ScalarsOf(histogram).sum_mean) / 65536;
  }
  const double of_all = static_cast<double>(row.scalars.sum_mean) / 65536;
  EXPECT_LE(std::abs(of_all / static_cast<double>(scene.agents()) - of_honest / honest),
            65 * epsilon + 1e-9);
}

TEST(BoundTest, NoSetOfHostileAgentsMovesAPublishedFigureBeyondTheBound) {
  constexpr unsigned kScenes = 300;
  constexpr unsigned kMostAgents = 41;
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    Scenes random(seed);
    std::vector<Scene> scenes;
    while (scenes.size() < kScenes) scenes.push_back(random.Any(kMostAgents));
    Field field(scenes);
    const std::vector<stats::StatRow> rows = field.Published();
    ASSERT_EQ(rows.size(), scenes.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      SCOPED_TRACE(fmt::format("seed {}, scene {}", seed, i));
      ExpectWithinBound(scenes[i], rows[i]);
      if (::testing::Test::HasFailure()) return;
    }
    // Additions after the contribution change none of it.
    field.SendLater();
    const std::vector<stats::StatRow> later = field.Published();
    ASSERT_EQ(later.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(later[i].bounded, rows[i].bounded);
      EXPECT_EQ(later[i].weights, rows[i].weights);
      EXPECT_EQ(later[i].scalars, rows[i].scalars);
      EXPECT_EQ(later[i].histogram == rows[i].histogram, scenes[i].later.empty());
    }
  }
}

// The bound is reached, so it cannot be tightened.
TEST(BoundTest, HugeAndTinyContributionsReachTheBound) {
  Scenes random(5);
  std::vector<Scene> scenes;
  for (unsigned i = 0; i < 60; ++i) {
    Scene scene = random.Any(41);
    for (CostHistogram& hostile : scene.hostile) {
      hostile = random.Hostile(i % 2 == 0 ? Attack::kHuge : Attack::kTiny, 0);
    }
    scenes.push_back(std::move(scene));
  }
  const std::vector<stats::StatRow> rows = Field(scenes).Published();
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    const std::size_t hostile = scenes[i].hostile.size();
    const Interval calls = BoundOf(CallsOf(scenes[i].honest), hostile);
    const Interval sum = BoundOf(SumsOf(scenes[i].honest), hostile);
    if (i % 2 == 0) {
      EXPECT_TRUE(rows[i].bounded.calls == calls.high) << i;
      EXPECT_TRUE(rows[i].bounded.sum == sum.high) << i;
    } else {
      EXPECT_TRUE(rows[i].bounded.calls == calls.low + hostile) << i;  // one call per hostile agent
      EXPECT_TRUE(rows[i].bounded.sum == sum.low) << i;
    }
  }
}

// The worked example of BOUNDS.md: 40 machines with 100 calls of 1 us each.
TEST(BoundTest, TheWorkedExample) {
  std::vector<Scene> scenes(3);
  const std::size_t hostile[] = {0, 2, 10};
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    scenes[i].honest.resize(40);
    for (CostHistogram& machine : scenes[i].honest) AddCalls(machine, 100, 1000);
    scenes[i].hostile.resize(hostile[i]);
    for (CostHistogram& machine : scenes[i].hostile) AddCalls(machine, kMostCalls, 1'000'000'000);
  }
  const std::vector<stats::StatRow> rows = Field(scenes).Published();
  const std::uint64_t calls[] = {4000, 4000 + 2 * 2047, 4000 + 10 * 2047};
  const std::uint64_t sum[] = {4'000'000, 4'000'000 + 2 * 2'097'151, 4'000'000 + 10 * 2'097'151};
  for (std::size_t i = 0; i < scenes.size(); ++i) {
    EXPECT_EQ(rows[i].bounded,
              (BoundedSums{.contributions = 40 + hostile[i], .calls = calls[i], .sum = sum[i]}));
    EXPECT_EQ(EstimateWeightedQuantile(rows[i].histogram, rows[i].weights, 0.5).high, 1023);
  }
  EXPECT_GT(rows[1].histogram.Mean(), 9.9e8) << "the result of counting calls equally";
}

}  // namespace
}  // namespace fieldcost::publish

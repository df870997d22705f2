#include "common/shm/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace fieldcost::shm {
namespace {

// As the preload library fills it, of a program with one API in two slots of 100.
DrawnPick Sample() {
  return {.candidate_count = 100,
          .slots = 2,
          .weight = kFullWeight / 4,
          .wanted = 1,
          .order = 0,
          .probe_draws = 8,
          .probe_weight = kFullWeight};
}

// Over evenly spread rounding bits.
double MeanOf(const DrawnPick& pick, const Chances& chances = {}) {
  constexpr int kBits = 4096;
  double sum = 0;
  for (std::uint64_t i = 0; i < kBits; ++i) {
    sum += RunsStoodFor(pick, chances, i * (~std::uint64_t{0} / kBits));
  }
  return sum / kBits;
}

TEST(SelectionTest, APickStandsForTheInverseOfItsChance) {
  DrawnPick pick = Sample();
  EXPECT_NEAR(MeanOf(pick), (1.0 / 8) / (2.0 / 100 / 4), 0.02);  // p / q = 25
  EXPECT_NEAR(MeanOf(pick, {.run = 4096}), 25 * 16, 0.3);
  EXPECT_NEAR(MeanOf(pick, {.run = 4096, .phase = 8192, .time = 49152}), 25 * 16 * 8 * 4 / 3.0, 3);
  pick.by_last_draw = true;
  EXPECT_NEAR(MeanOf(pick), 200, 0.2);  // 1 / q
  pick = Sample();
  pick.wanted = 4;
  EXPECT_NEAR(MeanOf(pick), (25 + 3) / 4.0, 0.01);
  pick.order = 3;
  EXPECT_NEAR(MeanOf(pick), 25 / 4.0, 0.01);
}

TEST(SelectionTest, ItIsRoundedToAPowerOfTwoWithTheSameMean) {
  DrawnPick pick = Sample();
  for (const std::uint64_t bits : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 63}) {
    const std::uint32_t runs = RunsStoodFor(pick, {}, bits);
    EXPECT_TRUE(runs == 16 || runs == 32) << runs;
  }
  pick.candidate_count = 2;  // an exact 1 / 2 ...
  EXPECT_NEAR(MeanOf(pick), 0.5, 0.001);
  pick.candidate_count = 64;  // ... and 16
  EXPECT_EQ(RunsStoodFor(pick, {}, 0), 16U);
  EXPECT_EQ(RunsStoodFor(pick, {}, ~std::uint64_t{0}), 16U);
  pick.probe_weight = 0;
  EXPECT_EQ(RunsStoodFor(pick, {}, 0), 0U);
  pick = Sample();
  pick.candidate_count = kMostCandidates;
  pick.slots = 1;
  pick.weight = 1;
  pick.by_last_draw = true;
  EXPECT_EQ(RunsStoodFor(pick, {.run = 1, .phase = 1, .time = 1}, 0), kMostRunsStoodFor);
  pick.wanted = kMaxPicks;
  pick.probe_draws = kMostProbeDraws;
  pick.slots = kMostCandidates;
  pick.weight = kFullWeight;
  EXPECT_EQ(RunsStoodFor(pick, {}, 0), 1U);
}

TEST(SelectionTest, WhatIsImpossibleStandsForNothing) {
  const std::vector<std::function<void(DrawnPick&)>> table = {
      [](DrawnPick& pick) { pick.wanted = 0; },
      [](DrawnPick& pick) { pick.wanted = kMaxPicks + 1; },
      [](DrawnPick& pick) { pick.order = 1; },
      [](DrawnPick& pick) { pick.candidate_count = 1; },
      [](DrawnPick& pick) { pick.candidate_count = ~std::uint64_t{0}; },
      [](DrawnPick& pick) { pick.slots = 0; },
      [](DrawnPick& pick) { pick.weight = 0; },
      [](DrawnPick& pick) { pick.weight = kFullWeight + 1; },
      [](DrawnPick& pick) { pick.probe_draws = 0; },
      [](DrawnPick& pick) { pick.probe_draws = ~std::uint32_t{0}; },
      [](DrawnPick& pick) { pick.probe_weight = 8 * kFullWeight + 1; },
  };
  ASSERT_GT(RunsStoodFor(Sample(), {}, 0), 0U);
  for (const auto& damage : table) {
    DrawnPick pick = Sample();
    damage(pick);
    EXPECT_EQ(RunsStoodFor(pick, {}, 0), 0U);
  }
  for (const std::uint32_t chance : {std::uint32_t{0}, kCertain + 1, ~std::uint32_t{0}}) {
    EXPECT_EQ(RunsStoodFor(Sample(), {.run = chance}, 0), 0U);
    EXPECT_EQ(RunsStoodFor(Sample(), {.phase = chance}, 0), 0U);
    EXPECT_EQ(RunsStoodFor(Sample(), {.time = chance}, 0), 0U);
  }
}

// A program with 100 APIs in 1 to 5 slots each, of weights 1 to 1/64 and a cost in every run, and
// with slots that lead to none of them. Runs are drawn from as agent/preload/candidates.cc does it,
// but for draws that are turned down: only how many these are is drawn.
class Fleet {
 public:
  static constexpr std::uint32_t kApis = 100;

  // `give_up`: the chance that no draw of kDrawsPerPick is taken. One run in 16 is chosen; where
  // most give up, each, or the least API would stand for more than the most.
  explicit Fleet(double give_up) : runs_per_chosen_(give_up > 0.5 ? 1 : 16) {
    double weights = 0;
    for (std::uint32_t i = 0; i < kApis; ++i) {
      apis_.push_back({.slots = 1 + i % 5,
                       .weight = kFullWeight >> (i * 3 % 7),
                       .cost = std::pow(1.1, i * 37 % kApis)});
      weights += apis_[i].slots * apis_[i].weight;
      up_to_.push_back(weights / kFullWeight);
    }
    const double p = 1 - std::pow(give_up, 1.0 / kDrawsPerPick);
    candidate_count_ = static_cast<std::uint64_t>(weights / kFullWeight / p);
  }

  // What one API's pick by one draw tells, the probes left out.
  DrawnPick Drawn(std::uint32_t api) const {
    return {.candidate_count = candidate_count_,
            .slots = apis_[api].slots,
            .weight = apis_[api].weight,
            .wanted = 1,
            .order = 0,
            .probe_draws = kProbeDraws,
            .probe_weight = 0};
  }
  double Q(std::uint32_t api) const {
    return static_cast<double>(apis_[api].slots) * apis_[api].weight / kFullWeight /
           static_cast<double>(candidate_count_);
  }
  double P() const { return up_to_.back() / static_cast<double>(candidate_count_); }
  double Cost(std::uint32_t api) const { return apis_[api].cost; }
  // How many of the chosen runs it stands for.
  double StandsFor(const DrawnPick& drawn, std::uint64_t bits) const {
    return RunsStoodFor(drawn, {.run = kCertain / runs_per_chosen_}, bits) /
           static_cast<double>(runs_per_chosen_);
  }

  struct Pick {
    std::uint32_t api;
    DrawnPick drawn;
    std::uint32_t draws;
  };
  std::vector<Pick> Run(std::uint32_t wanted) {
    std::vector<Pick> picks;
    std::vector<bool> taken(kApis);
    double p = P();
    for (std::uint32_t order = 0; order < wanted; ++order) {
      const double draws = 1 + std::floor(std::log(1 - Uniform()) / std::log1p(-p));
      if (draws > kDrawsPerPick) continue;
      std::uint32_t api = Weighted();
      while (taken[api]) api = Weighted();
      taken[api] = true;
      p -= Q(api);
      DrawnPick drawn = Drawn(api);
      drawn.wanted = wanted;
      drawn.order = order;
      drawn.by_last_draw = draws == kDrawsPerPick;
      picks.push_back({api, drawn, static_cast<std::uint32_t>(draws)});
    }
    for (std::uint32_t draw = 0; !picks.empty() && draw < kProbeDraws; ++draw) {
      const std::uint32_t api = AnySlot();
      for (std::size_t i = 0; api < kApis && i < picks.size(); ++i) {
        picks[i].drawn.probe_weight += apis_[api].weight;
        if (picks[i].api == api) break;
      }
    }
    return picks;
  }
  std::uint32_t ProbeWeight() {
    std::uint32_t sum = 0;
    for (std::uint32_t draw = 0; draw < kProbeDraws; ++draw) {
      const std::uint32_t api = AnySlot();
      if (api < kApis) sum += apis_[api].weight;
    }
    return sum;
  }
  std::uint64_t Bits() { return random_(); }

 private:
  struct Api {
    std::uint32_t slots;
    std::uint32_t weight;
    double cost;
  };

  double Uniform() { return std::uniform_real_distribution<double>()(random_); }
  // With probability proportional to slots times weight.
  std::uint32_t Weighted() {
    const auto found = std::upper_bound(up_to_.begin(), up_to_.end(), Uniform() * up_to_.back());
    return static_cast<std::uint32_t>(found - up_to_.begin());
  }
  // The API that a slot leads to; kApis: none.
  std::uint32_t AnySlot() {
    std::uint64_t index = random_() % candidate_count_;
    for (std::uint32_t i = 0; i < kApis; ++i) {
      if (index < apis_[i].slots) return i;
      index -= apis_[i].slots;
    }
    return kApis;
  }

  std::mt19937_64 random_{20261122};
  std::uint32_t runs_per_chosen_;
  std::vector<Api> apis_;
  std::vector<double> up_to_;
  std::uint64_t candidate_count_;
};

struct Setting {
  const char* name;
  double give_up;
  std::uint32_t wanted;
  int runs;  // chosen ones
};

class FleetTest : public ::testing::TestWithParam<Setting> {};

// Sums over what is estimated of one thing in each run.
struct Estimate {
  double sum = 0;
  double squares = 0;
  void Add(double value) {
    sum += value;
    squares += value * value;
  }
};

TEST_P(FleetTest, TotalsOfMeasuredRunsAreThoseOfAllRuns) {
  const Setting& setting = GetParam();
  Fleet fleet(setting.give_up);
  std::vector<std::uint32_t> dearest(Fleet::kApis);
  std::iota(dearest.begin(), dearest.end(), 0);
  std::sort(dearest.begin(), dearest.end(),
            [&](auto a, auto b) { return fleet.Cost(a) > fleet.Cost(b); });
  double cost = 0;
  for (const std::uint32_t api : dearest) cost += fleet.Cost(api);
  std::vector<Estimate> estimates(Fleet::kApis);
  Estimate total;
  int given_up = 0;
  double draws = 0;
  double old_total = 0;  // times what is known only when all is over
  int old_picks = 0;
  for (int run = 0; run < setting.runs; ++run) {
    const std::vector<Fleet::Pick> picks = fleet.Run(setting.wanted);
    if (picks.empty()) ++given_up;
    const std::uint64_t random_draw = fleet.Bits();
    double of_all = 0;
    for (std::uint32_t i = 0; i < picks.size(); ++i) {
      const double value =
          fleet.StandsFor(picks[i].drawn, RoundingBits(random_draw, i)) * fleet.Cost(picks[i].api);
      estimates[picks[i].api].Add(value);
      of_all += value;
    }
    total.Add(of_all);
    if (!picks.empty()) {
      draws += picks[0].draws;
      old_total += fleet.Cost(picks[0].api) / fleet.Q(picks[0].api);
      ++old_picks;
    }
  }
  const double runs = setting.runs;
  EXPECT_NEAR(given_up / runs, std::pow(setting.give_up, setting.wanted), 0.03);
  const double error = std::sqrt(total.squares) / runs;
  EXPECT_LT(std::abs(total.sum / runs - cost), 4 * error);
  EXPECT_LT(error / cost, 0.07) << "or this says little";
  for (int i = 0; i < 10; ++i) {
    const Estimate& each = estimates[dearest[static_cast<std::size_t>(i)]];
    const double true_share = fleet.Cost(dearest[static_cast<std::size_t>(i)]) / cost;
    EXPECT_LT(std::abs(each.sum / total.sum - true_share), 5 * std::sqrt(each.squares) / total.sum);
  }
  // What was done before: the chance that a draw is taken from the draws that took, and nothing for
  // runs that gave up.
  if (setting.wanted == 1 && setting.give_up > 0.1) {
    const double old = old_total * (old_picks - 1) / (draws - 1) / runs;
    EXPECT_GT(old / cost, 1.2);
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, FleetTest,
                         ::testing::Values(Setting{"one_of_all", 1e-12, 1, 500'000},
                                           Setting{"one_of_84_percent", 0.16, 1, 2'000'000},
                                           Setting{"one_of_8_percent", 0.92, 1, 8'000'000},
                                           Setting{"four_of_all", 1e-12, 4, 200'000},
                                           Setting{"four_of_84_percent", 0.16, 4, 1'000'000},
                                           Setting{"four_of_8_percent", 0.92, 4, 4'000'000}),
                         [](const auto& setting) { return setting.param.name; });

// The mean for each API, where few runs give most of it: the two ways of being picked one by one,
// with their known probabilities.
TEST(FleetOfOneTest, EachApiStandsForWhatItShould) {
  for (const double give_up : {1e-12, 0.16, 0.92}) {
    Fleet fleet(give_up);
    const double p = fleet.P();
    const double late = std::pow(1 - p, kDrawsPerPick - 1);
    for (std::uint32_t api = 0; api < Fleet::kApis; ++api) {
      constexpr int kTries = 5000;
      Estimate before_last;
      Estimate by_last;
      for (int i = 0; i < kTries; ++i) {
        DrawnPick drawn = fleet.Drawn(api);
        drawn.probe_weight = fleet.ProbeWeight();
        before_last.Add(fleet.StandsFor(drawn, fleet.Bits()));
        drawn.by_last_draw = true;
        by_last.Add(fleet.StandsFor(drawn, fleet.Bits()));
      }
      const double chance = fleet.Q(api) / p * (1 - late);
      const double last_chance = fleet.Q(api) * late;
      const double mean = (chance * before_last.sum + last_chance * by_last.sum) / kTries;
      const double error =
          (chance * std::sqrt(before_last.squares) + last_chance * std::sqrt(by_last.squares)) /
          kTries;
      EXPECT_LT(std::abs(mean - 1), 4.5 * error) << api << " where so many give up: " << give_up;
    }
  }
}

}  // namespace
}  // namespace fieldcost::shm

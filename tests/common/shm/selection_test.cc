#include "common/shm/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace fieldcost::shm {
namespace {

// A pick with a quarter of the full weight; functions with 25 times its weight were called.
DrawnPick Sample() {
  return {.weight_left = std::uint64_t{25} * (kFullWeight / 4),
          .weight = kFullWeight / 4,
          .wanted = 1,
          .order = 0,
          .watched_per_65536 = kCertain};
}

// The mean over evenly spread rounding bits.
double MeanOf(const DrawnPick& pick, const Chances& chances = {}) {
  constexpr int kBits = 4096;
  double sum = 0;
  for (std::uint64_t i = 0; i < kBits; ++i) {
    sum += RunsStoodFor(pick, chances, i * (~std::uint64_t{0} / kBits));
  }
  return sum / kBits;
}

TEST(SelectionTest, PickRepresentsTheInverseOfItsChance) {
  DrawnPick pick = Sample();
  EXPECT_NEAR(MeanOf(pick), 25, 0.02);
  EXPECT_NEAR(MeanOf(pick, {.run = 4096}), 25 * 16, 0.3);
  EXPECT_NEAR(MeanOf(pick, {.run = 4096, .phase = 8192, .time = 49152}), 25 * 16 * 8 * 4 / 3.0, 3);
  pick.watched_per_65536 = kCertain / 8;
  EXPECT_NEAR(MeanOf(pick), 200, 0.2);
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
  pick.weight_left = pick.weight;
  pick.wanted = 2;
  pick.order = 1;  // exactly 1 / 2 ...
  EXPECT_NEAR(MeanOf(pick), 0.5, 0.001);
  pick = Sample();
  pick.weight_left = 16 * pick.weight;  // ... and 16
  EXPECT_EQ(RunsStoodFor(pick, {}, 0), 16U);
  EXPECT_EQ(RunsStoodFor(pick, {}, ~std::uint64_t{0}), 16U);
  pick.weight_left = kMostWeightLeft;
  pick.weight = 1;
  pick.watched_per_65536 = 1;
  EXPECT_EQ(RunsStoodFor(pick, {.run = 1, .phase = 1, .time = 1}, 0), kMostRunsStoodFor);
}

TEST(SelectionTest, ImpossiblePicksRepresentNoRuns) {
  const std::vector<std::function<void(DrawnPick&)>> table = {
      [](DrawnPick& pick) { pick.wanted = 0; },
      [](DrawnPick& pick) { pick.wanted = kMaxPlaces + 1; },
      [](DrawnPick& pick) { pick.order = 1; },
      [](DrawnPick& pick) { pick.weight_left = pick.weight - 1; },
      [](DrawnPick& pick) { pick.weight_left = kMostWeightLeft + 1; },
      [](DrawnPick& pick) { pick.weight_left = ~std::uint64_t{0}; },
      [](DrawnPick& pick) { pick.weight = 0; },
      [](DrawnPick& pick) { pick.weight = kFullWeight + 1; },
      [](DrawnPick& pick) { pick.watched_per_65536 = 0; },
      [](DrawnPick& pick) { pick.watched_per_65536 = kCertain + 1; },
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

TEST(SelectionTest, WatchesAsManyFunctionsAsFit) {
  EXPECT_EQ(WatchChancesOf(0, 0, 1).of_libraries, kCertain);
  EXPECT_EQ(WatchChancesOf(64, 0, 1).of_program, kCertain);
  EXPECT_EQ(WatchChancesOf(640, 0, 1).of_program, kCertain / 10 + 1);
  EXPECT_EQ(WatchChancesOf(640, 10, 1).of_libraries, kCertain / 10 + 1);
  EXPECT_EQ(WatchChancesOf(28, 680, 1).of_libraries, kCertain / 10 + 1);
  EXPECT_EQ(WatchChancesOf(28, 680, 1).of_program, kCertain);
  EXPECT_GE(WatchChancesOf(~std::uint32_t{0}, ~std::uint32_t{0}, 1).of_libraries, 1U);
  // With more places, more functions are watched.
  EXPECT_EQ(WatchChancesOf(106, 53, kMaxPlaces).of_program, kCertain);
  EXPECT_EQ(WatchChancesOf(106, 53, kMaxPlaces).of_libraries, kCertain);
  EXPECT_LT(WatchChancesOf(107, 53, kMaxPlaces).of_program, kCertain);
  std::mt19937_64 random(20261126);
  const WatchChances chances = WatchChancesOf(500, 2000, 1);
  int watched = 0;
  for (int run = 0; run < 1000; ++run) {
    const std::uint64_t bits = random();
    int of_run = 0;
    for (int i = 0; i < 2500; ++i) {
      const std::uint32_t chance = i < 500 ? chances.of_program : chances.of_libraries;
      if (WatchNumber(("symbol_" + std::to_string(i)).c_str(), bits) < chance) ++of_run;
    }
    EXPECT_LE(of_run, static_cast<int>(kMaxWatched));
    watched += of_run;
  }
  EXPECT_NEAR(watched / 1000.0, kExpectedWatched, 2);
}

TEST(SelectionTest, LaterFunctionsShareTheRemainingRoom) {
  EXPECT_EQ(LaterChance(kCertain, 200, 10), kCertain);
  EXPECT_EQ(LaterChance(kCertain, 200, 500), kCertain / 10 + 1);
  EXPECT_EQ(LaterChance(100, 200, 10), 100U) << "it never grows";
  EXPECT_EQ(LaterChance(kCertain, 0, 10), 1U);
  EXPECT_EQ(LaterChance(1, 0, ~std::uint32_t{0}), 1U);
}

TEST(SelectionTest, TheOneThatLosesItsPlaceIsTheLast) {
  Places places{.wanted = 2, .count = 0, .called_weight = 0, .places = {}};
  EXPECT_EQ(TakePlace(&places, 0, 10, 100), kNoPlace);
  EXPECT_EQ(TakePlace(&places, 0, 20, 101), kNoPlace);
  EXPECT_EQ(TakePlace(&places, 1, 30, 102), 100U);
  EXPECT_EQ(TakePlace(&places, 0, 40, 103), 102U);
  places.called_weight = 100;
  EXPECT_EQ(WeightLeft(places, 0), 100U);
  EXPECT_EQ(WeightLeft(places, 1), 60U);
}

// A program that links 300 functions, a third of them itself, through more or fewer slots, with
// weights 1 to 1/64. Each run calls some of them, early or late, some often, and ends at any
// moment. The true cost of a run is known for each function, and is compared with the estimate from
// the draw.
class Fleet {
 public:
  static constexpr std::uint32_t kApis = 300;

  // `called`: the approximate number of functions that a run calls. `documented`: only one function
  // in four is documented, and one of the others has a reserved name; if false, all are documented.
  Fleet(std::uint64_t slots, double called, std::uint64_t later_slots, bool documented)
      : called_(called),
        later_slots_(later_slots),
        chances_(WatchChancesOf(slots / 3, slots - slots / 3, 1)) {
    constexpr std::uint32_t kDivisors[] = {1, 4, 8, 4};
    for (std::uint32_t i = 0; i < kApis; ++i) {
      apis_.push_back({.name = "api_" + std::to_string(i),
                       .weight = (kFullWeight >> (i * 3 % 7)) / kDivisors[documented ? i % 4 : 0],
                       .cost = std::pow(1.02, i * 37 % kApis)});
    }
  }

  struct Pick {
    std::uint32_t api;
    DrawnPick drawn;
    double cost;  // of the run's calls from the first one on
  };
  struct Result {
    std::vector<double> costs;  // by API
    std::vector<Pick> picks;
    int lost_places = 0;
  };
  Result Run(std::uint32_t wanted) {
    Result result{.costs = std::vector<double>(kApis), .picks = {}};
    Places places{.wanted = wanted, .count = 0, .called_weight = 0, .places = {}};
    const std::uint64_t names = random_();
    std::uint64_t draws = random_();
    const auto calls = static_cast<int>(2 * called_ * Uniform());
    std::vector<std::uint32_t> chances(kApis);
    std::uint32_t watched = Watch(0, names, &chances);
    std::uint32_t later_chance = chances_.of_libraries;
    std::uint32_t groups = later_slots_ == 0 ? kGroups : 1;  // that are present
    for (int i = 0; i < calls; ++i) {
      if (groups < kGroups && i >= called_ / kGroups * groups) {
        later_chance = LaterChance(later_chance, kMaxWatched - watched, later_slots_);
        for (std::uint32_t api = 2; api < kApis; api += 3) {
          if (GroupOf(api) == groups) chances[api] = later_chance;
        }
        watched += Watch(groups++, names, &chances);
      }
      // Low numbers are called more often, and so, on average, earlier.
      const auto api = static_cast<std::uint32_t>(kApis * Uniform() * Uniform());
      if (GroupOf(api) >= groups) continue;
      const bool is_first = result.costs[api] == 0;
      result.costs[api] += apis_[api].cost * (0.5 + Uniform());
      if (!is_first || WatchNumber(apis_[api].name.c_str(), names) >= chances[api]) continue;
      const std::uint32_t order = OfferPlaces(&places, apis_[api].weight, &draws);
      if (order == kNoPlace) continue;
      if (TakePlace(&places, order, apis_[api].weight, api) != kNoPlace) ++result.lost_places;
    }
    for (std::uint32_t order = 0; order < places.count; ++order) {
      const std::uint32_t api = places.places[order].pick;
      result.picks.push_back({.api = api,
                              .drawn = {.weight_left = WeightLeft(places, order),
                                        .weight = places.places[order].weight,
                                        .wanted = wanted,
                                        .order = order,
                                        .watched_per_65536 = chances[api]},
                              .cost = result.costs[api]});
    }
    return result;
  }
  std::uint64_t Bits() { return random_(); }

 private:
  struct Api {
    std::string name;
    std::uint32_t weight;
    double cost;
  };
  // Some belong to libraries loaded by dlopen, one group after the other.
  static constexpr std::uint32_t kGroups = 4;
  std::uint32_t GroupOf(std::uint32_t api) const {
    return later_slots_ != 0 && api % 3 == 2 ? 1 + api / 3 % (kGroups - 1) : 0;
  }
  // Sets the missing probabilities of a group. Returns how many of its functions are watched.
  std::uint32_t Watch(std::uint32_t group, std::uint64_t names,
                      std::vector<std::uint32_t>* chances) const {
    std::uint32_t count = 0;
    for (std::uint32_t api = 0; api < kApis; ++api) {
      if (GroupOf(api) != group) continue;
      std::uint32_t& chance = (*chances)[api];
      if (chance == 0) chance = api % 3 == 0 ? chances_.of_program : chances_.of_libraries;
      if (WatchNumber(apis_[api].name.c_str(), names) < chance) ++count;
    }
    return count;
  }
  double Uniform() { return std::uniform_real_distribution<double>()(random_); }

  std::mt19937_64 random_{20261126};
  double called_;
  std::uint64_t later_slots_;
  WatchChances chances_;
  std::vector<Api> apis_;
};

struct Setting {
  const char* name;
  std::uint64_t slots;
  double called;
  std::uint32_t wanted;
  double least_yield;             // of the runs that call something
  std::uint64_t later_slots = 0;  // of each library loaded by dlopen; 0: none
  bool documented = false;        // undocumented names have smaller weights
};

class FleetTest : public ::testing::TestWithParam<Setting> {};

// Sums of the overestimates of each run.
struct Excess {
  double sum = 0;
  double squares = 0;
  void Add(double value) {
    sum += value;
    squares += value * value;
  }
};

TEST_P(FleetTest, TotalsOfMeasuredRunsAreThoseOfAllRuns) {
  const Setting& setting = GetParam();
  constexpr int kRuns = 200'000;
  Fleet fleet(setting.slots, setting.called, setting.later_slots, setting.documented);
  std::vector<int> picks(Fleet::kApis);
  std::vector<Excess> excess(Fleet::kApis);
  Excess of_total;
  double total = 0;
  int calling = 0;
  int measured = 0;
  int lost_places = 0;
  for (int run = 0; run < kRuns; ++run) {
    const Fleet::Result result = fleet.Run(setting.wanted);
    const std::uint64_t bits = fleet.Bits();
    std::vector<double> over(Fleet::kApis);
    for (std::uint32_t i = 0; i < Fleet::kApis; ++i) over[i] = -result.costs[i];
    const double of_run = std::accumulate(result.costs.begin(), result.costs.end(), 0.0);
    for (std::uint32_t i = 0; i < result.picks.size(); ++i) {
      const Fleet::Pick& pick = result.picks[i];
      ++picks[pick.api];
      over[pick.api] += RunsStoodFor(pick.drawn, {}, RoundingBits(bits, i)) * pick.cost;
    }
    for (std::uint32_t i = 0; i < Fleet::kApis; ++i) excess[i].Add(over[i]);
    of_total.Add(std::accumulate(over.begin(), over.end(), 0.0));
    total += of_run;
    if (of_run != 0) ++calling;
    if (!result.picks.empty()) ++measured;
    lost_places += result.lost_places;
  }
  const double error = std::sqrt(of_total.squares);
  EXPECT_LT(std::abs(of_total.sum), 4 * error);
  EXPECT_LT(error / total, 0.02) << "otherwise the simulation is too small";
  RecordProperty("bias_per_million", static_cast<int>(of_total.sum / total * 1e6));
  RecordProperty("error_per_million", static_cast<int>(error / total * 1e6));
  for (std::uint32_t i = 0; i < Fleet::kApis; ++i) {
    if (picks[i] < 200) continue;  // too few to know their error
    EXPECT_LT(std::abs(excess[i].sum), 5 * std::sqrt(excess[i].squares)) << i;
  }
  EXPECT_GT(measured, calling * setting.least_yield);
  EXPECT_LT(lost_places, kRuns * (4 + 4.0 * setting.wanted));
}

INSTANTIATE_TEST_SUITE_P(Settings, FleetTest,
                         ::testing::Values(Setting{"one_of_all", 90, 40, 1, 0.999},
                                           Setting{"one_of_a_fifth", 500, 40, 1, 0.85},
                                           Setting{"one_of_a_thirtieth", 3000, 100, 1, 0.6},
                                           Setting{"four_of_all", 90, 40, 4, 0.999},
                                           Setting{"four_of_a_fifth", 500, 40, 4, 0.85},
                                           Setting{"many_of_few", 90, 4, 16, 0.999},
                                           Setting{"one_with_dlopen", 90, 60, 1, 0.999, 100},
                                           Setting{"four_with_dlopen", 500, 60, 4, 0.9, 60},
                                           Setting{"one_documented", 90, 40, 1, 0.999, 0, true},
                                           Setting{"four_documented", 500, 60, 4, 0.9, 60, true}),
                         [](const auto& setting) { return setting.param.name; });

}  // namespace
}  // namespace fieldcost::shm

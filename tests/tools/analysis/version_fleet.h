#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "common/stats/contribution_sizes.h"
#include "common/stats/stat_row.h"

namespace fieldcost::analysis {

// Creates published rows of machines that differ: the log2 of a machine's typical cost is normally
// distributed around its class's with a deviation of 0.4 octaves, that of a call around its
// machine's with 1 octave.
class VersionFleet {
 public:
  explicit VersionFleet(unsigned seed) : random_(seed) {}

  struct Wish {
    std::string symbol = "f";
    std::string version = "1.0";
    double octaves = 12;  // of the typical cost
    int machines = 60;
    std::string cpu = "";    // the class, empty = all
    std::uint32_t week = 0;  // 0 = all weeks, counted as one
    stats::Metric metric = stats::Metric::kWallTime;
  };

  stats::StatRow Row(const Wish& wish) {
    stats::StatRow row;
    row.key.api = {"libz.so.1", wish.version, "00ff", wish.symbol, ""};
    row.key.metric = wish.metric;
    row.key.week = wish.week;
    if (!wish.cpu.empty()) row.key.hardware = {"x86_64", wish.cpu, 3, 14, "debian-12"};
    stats::ContributionSizes sizes;
    for (int machine = 0; machine < wish.machines; ++machine) {
      stats::CostHistogram calls;
      const double typical = wish.octaves + 0.4 * normal_(random_);
      for (int i = 0; i < 40; ++i) {
        calls.Add(static_cast<std::uint64_t>(std::exp2(typical + normal_(random_))));
      }
      row.histogram.Merge(calls);
      row.scalars.Merge(stats::ScalarsOf(calls));
      row.weights.Merge(stats::WeightsOf(calls));
      sizes.Merge(stats::SizesOf(calls));
    }
    row.bounded = sizes.Bounded();
    if (wish.week == 0) row.fullest_quarter = {.week = 2900, .scalars = row.scalars};
    return row;
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

}  // namespace fieldcost::analysis

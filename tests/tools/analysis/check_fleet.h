#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tools/analysis/check_report.h"

namespace fieldcost::analysis {

// A field of machines to compare with, and the user's own calls.

inline const stats::HardwareClass kLaptop{.architecture = "x86_64",
                                          .cpu_family = "GenuineIntel-6",
                                          .log2_cores = 3,
                                          .log2_memory_mib = 14,
                                          .os_release = "debian-12"};
inline const stats::HardwareClass kServer{.architecture = "x86_64",
                                          .cpu_family = "AuthenticAMD-25",
                                          .log2_cores = 6,
                                          .log2_memory_mib = 18,
                                          .os_release = "debian-12"};

// The deviation of machines' typical costs is a third of an octave.
class CheckFleet {
 public:
  stats::CostHistogram Machine(double octaves = 0, int calls = 300) {
    stats::CostHistogram histogram;
    const double typical = 10 + octaves + 0.3 * normal_(random_);
    for (; calls > 0; --calls) {
      histogram.Add(static_cast<std::uint64_t>(std::exp2(typical + normal_(random_))));
    }
    return histogram;
  }
  stats::StatRow Field(const stats::RowKey& key, int machines) {
    stats::StatRow row{.key = key};
    for (; machines > 0; --machines) Contribute(Machine(), row);
    return row;
  }
  // The week is 2900 unless the row has one.
  static void Contribute(const stats::CostHistogram& machine, stats::StatRow& row) {
    row.histogram.Merge(machine);
    row.scalars.Merge(stats::ScalarsOf(machine));
    if (row.key.week == 0) row.fullest_quarter = {.week = 2900, .scalars = row.scalars};
  }

 private:
  std::mt19937_64 random_{12};
  std::normal_distribution<double> normal_;
};

inline stats::RowKey Key(const std::string& symbol, const std::string& version = "1.2-3",
                         const stats::HardwareClass& hardware = {}, std::uint32_t week = 0) {
  return {.api = {.soname = "liba.so.1",
                  .package_version = version,
                  .build_id = version == "" ? "" : "0a" + std::string(version.size() * 2, '1'),
                  .symbol = symbol,
                  .symbol_version = ""},
          .metric = stats::Metric::kWallTime,
          .hardware = hardware,
          .week = week};
}

inline CheckedApi Api(const std::string& symbol, const stats::CostHistogram& mine,
                      const stats::StatRow& field) {
  const stats::RowKey key = Key(symbol, "1.2-3", kLaptop);
  return {.key = key,
          .mine = mine,
          .field = ChooseField(std::vector{field}, {}, key),
          .comparison = {}};
}

inline std::vector<CheckedApi> SomeApis() {
  CheckFleet fleet;
  std::vector<CheckedApi> apis;
  apis.push_back(Api("slow", fleet.Machine(3), fleet.Field(Key("slow"), 50)));
  for (int i = 0; i < 6; ++i) {
    const std::string name = "fine" + std::to_string(i);
    apis.push_back(Api(name, fleet.Machine(-0.3), fleet.Field(Key(name), 50)));
  }
  apis.push_back(Api("rare", fleet.Machine(3, 12), fleet.Field(Key("rare"), 7)));
  apis.push_back(Api("unknown", fleet.Machine(3), fleet.Field(Key("other"), 50)));
  return apis;
}

}  // namespace fieldcost::analysis

// Prints the size tables of common/inference/COMPARISONS.md:   size_table [FLEETS] Uses fixed
// seeds, so the numbers are the same each time. Takes some minutes.

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "tests/common/inference/size_table.h"

namespace fieldcost::inference {
namespace {

constexpr double kOctaves[] = {0.0, 0.1, 0.3, 0.6};

std::string Cell(const Sizes& sizes) {
  return fmt::format(" {:.1f} / {:.2f} / {:.2f} / {:.2f} |", 100 * sizes.at_5_percent,
                     100 * sizes.at_0_1_percent, sizes.half_more, sizes.twice);
}

void PrintHead(const char* what) {
  fmt::print("| {} | 0.0 | 0.1 | 0.3 | 0.6 |\n|---|---|---|---|---|\n", what);
}

void Print(int fleets) {
  const std::vector<FleetPlan> plans = {
      {"30 × 1", 30, 1},
      {"30 × 12", 30, 12},
      {"30 × 52", 30, 52},
      {"60 × 12", 60, 12},
      {"120 × 12", 120, 12},
      {"480 × 4", 480, 4},
      {"30, 3 of them canaries", 30, 12, Comings::kCanaries},
      {"40 a week, 10 of them always", 40, 12, Comings::kChurn},
      {"30 × 1, exponential", 30, 1, Comings::kAlways, Effects::kExponential},
      {"60 × 1, exponential", 60, 1, Comings::kAlways, Effects::kExponential},
      {"120 × 1, exponential", 120, 1, Comings::kAlways, Effects::kExponential},
      {"480 × 1, exponential", 480, 1, Comings::kAlways, Effects::kExponential},
      {"30 × 1, lognormal", 30, 1, Comings::kAlways, Effects::kLognormal},
      {"120 × 1, lognormal", 120, 1, Comings::kAlways, Effects::kLognormal},
      {"30 × 1, one in 20 slow", 30, 1, Comings::kAlways, Effects::kFewSlow},
      {"120 × 1, one in 20 slow", 120, 1, Comings::kAlways, Effects::kFewSlow},
  };
  PrintHead("check: a user and a field of");
  std::uint64_t seed = 1;
  for (const FleetPlan& plan : plans) {
    std::string line = fmt::format("| {} |", plan.name);
    for (const double octaves : kOctaves) line += Cell(SizesOfCheck(plan, octaves, fleets, seed++));
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }
  fmt::print("\n");
  PrintHead("diff: two versions, each on");
  const auto print_diff = [&](std::string_view name, const FleetPlan& before,
                              const FleetPlan& after) {
    std::string line = fmt::format("| {} |", name);
    for (const double octaves : kOctaves) {
      line += Cell(SizesOfDiff(before, after, octaves, 5 * fleets, seed++));
    }
    fmt::print("{}\n", line);
    std::fflush(stdout);
  };
  for (const FleetPlan& plan : plans) print_diff(plan.name, plan, plan);
  print_diff("30 and 480", {"", 30, 1}, {"", 480, 1});
  print_diff("30 and 480, exponential", {"", 30, 1, Comings::kAlways, Effects::kExponential},
             {"", 480, 1, Comings::kAlways, Effects::kExponential});
}

}  // namespace
}  // namespace fieldcost::inference

int main(int argc, char** argv) {
  fieldcost::stats::Print(argc > 1 ? std::max(10, std::atoi(argv[1])) : 2000);
  return 0;
}

// Prints the tables of common/probe/README.md:   probe_table [ROUNDS] Uses fixed seeds, so the
// numbers are the same each time.

#include <fmt/format.h>

#include <cstdlib>

#include "tests/common/probe/simulation.h"

namespace fieldcost::probe {
namespace {

void PrintJudge(int rounds) {
  fmt::print(
      "| runs | spread | clean ones that go | × 1.5 | × 2 | × 4 | ÷ 4 |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const std::size_t runs : {8, 12, 20, 50}) {
    for (const double spread : {0.05, 0.1, 0.3}) {
      const RunPlan plan{.runs = runs, .spread = spread, .rounds = rounds};
      fmt::print("| {} | {} | {:.2f} % |", runs, spread, 100 * ShareOfCleanThatGo(plan));
      for (const double times : {1.5, 2.0, 4.0, 0.25}) {
        fmt::print(" {:.1f} % |", 100 * ShareOfDirtyThatGo(plan, times));
      }
      fmt::print("\n");
    }
  }
}

void PrintCompare(int rounds, double least) {
  fmt::print(
      "\n| events, least {} % | spread | equal: slower / faster | +10 % | +20 % | +50 % |\n"
      "|---|---|---|---|---|---|\n",
      100 * least);
  for (const std::size_t runs : {5, 10, 20}) {
    for (const double spread : {0.05, 0.1, 0.3}) {
      const RunPlan plan{.runs = runs, .spread = spread, .rounds = rounds};
      const Called equal = ShareOfTotalsCalled(plan, 1, least);
      fmt::print("| {} | {} | {:.1f} / {:.1f} % |", runs, spread, 100 * equal.slower,
                 100 * equal.faster);
      for (const double times : {1.1, 1.2, 1.5}) {
        fmt::print(" {:.1f} % |", 100 * ShareOfTotalsCalled(plan, times, least).slower);
      }
      fmt::print("\n");
    }
  }
}

void PrintSteps(int rounds) {
  fmt::print(
      "\n| events | any of 20 equal steps called | any of 30 labels of 4 |\n|---|---|---|\n");
  for (const std::size_t runs : {5, 10, 20}) {
    const RunPlan plan{.runs = runs, .rounds = rounds};
    fmt::print("| {} | {:.1f} % | {:.1f} % |\n", runs, 100 * ShareWithAnyStepCalled(plan, 20, 1),
               100 * ShareWithAnyStepCalled(plan, 4, 30));
  }
}

void PrintBusy(int rounds) {
  fmt::print(
      "\n| busy, events | equal: any step called | +50 %: found | another |\n|---|---|---|---|\n");
  for (const std::size_t runs : {5, 10, 20}) {
    const RunPlan plan{.runs = runs, .rounds = rounds};
    const BusyCalled equal = ShareOfBusyStepsCalled(plan, 1);
    const BusyCalled planted = ShareOfBusyStepsCalled(plan, 1.5);
    fmt::print("| {} | {:.1f} % | {:.1f} % | {:.1f} % |\n", runs,
               100 * (equal.slower + equal.other), 100 * planted.slower, 100 * planted.other);
  }
}

}  // namespace
}  // namespace fieldcost::probe

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 20000;
  fieldcost::probe::PrintJudge(rounds);
  fieldcost::probe::PrintCompare(rounds, 0);
  fieldcost::probe::PrintCompare(rounds, 0.1);
  fieldcost::probe::PrintSteps(rounds / 10);
  fieldcost::probe::PrintBusy(rounds / 10);
}

// Prints the table of shapes in common/stats/FIGURES.md:
//   shape_table tried|held_out|later|last [SEEDS]

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "tests/common/stats/shape_cases.h"

int main(int count, char** arguments) {
  using namespace fieldcost::stats;
  if (count < 2) return 64;
  const std::string_view which = arguments[1];
  const auto cases = which == "tried"      ? TriedCases()
                     : which == "held_out" ? HeldOutCases()
                     : which == "later"    ? LaterHeldOutCases()
                                           : LastHeldOutCases();
  const int seeds = count > 2 ? std::atoi(arguments[2]) : 1000;
  double sum = 0;
  int cells = 0;
  fmt::print("| distribution | is | right, % | 0.2 % preempted |\n|---|---|---|---|\n");
  for (const ShapeCase& each : cases) {
    const double plain = RightShare(each, 0, seeds);
    const double preempted = RightShare(each, 0.002, seeds);
    sum += plain + preempted;
    cells += 2;
    fmt::print("| {} | {}{} | {:.1f} | {:.1f} |\n", each.name, Name(each.shape),
               each.first_ns > 0 ? ", start_up" : "", 100 * plain, 100 * preempted);
  }
  fmt::print("{} distributions: {:.2f} % right\n", cells / 2, 100 * sum / cells);
  return 0;
}

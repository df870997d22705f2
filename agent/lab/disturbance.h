#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace fieldcost::lab {

// Tells runs on a disturbed machine from others: a loop of known work takes longer beside them than
// in the best moment so far, or they lost the CPU much more often than runs usually do. Not
// thread-safe.
class Disturbance {
 public:
  // `plain_loop`: how long the loop takes now, ns; empty: it is measured.
  explicit Disturbance(std::function<std::uint64_t()> plain_loop);

  // Takes the state before a run.
  void Begin();
  // Tells after it whether the run was disturbed. The first runs have nothing to be compared with,
  // and count as undisturbed by switches.
  bool End(std::uint64_t involuntary_switches, std::uint64_t wall_ns);

 private:
  std::function<std::uint64_t()> plain_loop_;
  std::uint64_t best_ns_ = ~std::uint64_t{0};
  std::uint64_t before_ns_ = 0;
  std::vector<double> rates_;  // of undisturbed runs, switches a second, ascending
};

// About a millisecond of multiplications that wait for each other.
std::uint64_t PlainLoopNs();

}  // namespace fieldcost::lab

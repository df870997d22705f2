#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace fieldcost::lab {

// Detects runs on a disturbed machine: a loop of known work before and after the run takes longer
// than its best time so far, or the run lost the CPU much more often than usual. Not thread-safe.
class Disturbance {
 public:
  // `plain_loop` returns how long the loop takes now, in ns; if empty, PlainLoopNs() is used.
  explicit Disturbance(std::function<std::uint64_t()> plain_loop);

  // Must be called before a run.
  void Begin();
  // Must be called after the run. Returns whether it was disturbed. For the first runs, the number
  // of switches is ignored, since there are no others to compare it with.
  bool End(std::uint64_t involuntary_switches, std::uint64_t wall_ns);

 private:
  std::function<std::uint64_t()> plain_loop_;
  std::uint64_t best_ns_ = ~std::uint64_t{0};
  std::uint64_t before_ns_ = 0;
  std::vector<double> rates_;  // switches per second of undisturbed runs, ascending
};

// Measures about a millisecond of dependent multiplications.
std::uint64_t PlainLoopNs();

}  // namespace fieldcost::lab

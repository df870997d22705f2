#include "agent/lab/disturbance.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace fieldcost::lab {
namespace {

constexpr std::uint64_t kSlowPercent = 125;  // of the best time
constexpr std::size_t kLeastRuns = 5;        // minimum for knowing what is usual
constexpr double kManyTimes = 4;
constexpr double kManySwitches = 20;  // minimum, per second and in total

}  // namespace

std::uint64_t PlainLoopNs() {
  constexpr int kMultiplications = 800'000;
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t value = 3;
  for (int i = 0; i < kMultiplications; ++i) {
    value *= value;
    __asm__ volatile("" : "+r"(value));
  }
  const auto took = std::chrono::steady_clock::now() - begin;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(took).count());
}

Disturbance::Disturbance(std::function<std::uint64_t()> plain_loop)
    : plain_loop_(plain_loop ? std::move(plain_loop) : PlainLoopNs) {}

void Disturbance::Begin() {
  before_ns_ = plain_loop_();
  best_ns_ = std::min(best_ns_, before_ns_);
}

bool Disturbance::End(std::uint64_t involuntary_switches, std::uint64_t wall_ns) {
  const std::uint64_t after_ns = plain_loop_();
  best_ns_ = std::min(best_ns_, after_ns);
  // If only one of the two loops is slow, this is considered chance.
  const bool is_slow = std::min(before_ns_, after_ns) > best_ns_ / 100 * kSlowPercent;
  const double rate = static_cast<double>(involuntary_switches) * 1e9 /
                      static_cast<double>(std::max<std::uint64_t>(wall_ns, 1));
  bool is_interrupted = false;
  if (rates_.size() >= kLeastRuns) {
    const double usual = rates_[rates_.size() / 2];
    is_interrupted = static_cast<double>(involuntary_switches) > kManySwitches &&
                     rate > kManyTimes * usual + kManySwitches;
  }
  if (!is_slow && !is_interrupted) {
    rates_.insert(std::lower_bound(rates_.begin(), rates_.end(), rate), rate);
  }
  return is_slow || is_interrupted;
}

}  // namespace fieldcost::lab

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/tree/algebra.h"
#include "common/tree/tree.h"

namespace fieldcost::tree {

// Exact means over runs, and differences of means: integers over one denominator. Each has two
// sides, the subtrahend (before) and the minuend (after); its value is after - before. A mean has
// an empty `before`. So differences can be added and subtracted like means without loss: both sides
// and their squares remain available for tests, and for showing what disappeared or is new. Pure
// functions.

// The value of one side. Each run of the side contributes cost * denominator / runs.
struct SideSum {
  static constexpr stats::Uint128 kSumEnd = stats::Uint128{1} << 127;  // `sum` is less than this

  stats::Uint128 sum = 0;
  stats::Uint128 sum_squares = 0;  // of the contributions of the runs
  bool operator==(const SideSum&) const = default;
};
struct Sides {
  SideSum before;
  SideSum after;
  bool operator==(const Sides&) const = default;
};
// In units of 1 / denominator. Sums are less than 2^127, so the difference fits.
inline stats::Int128 NumeratorOf(const Sides& sides) {
  return static_cast<stats::Int128>(sides.after.sum) - static_cast<stats::Int128>(sides.before.sum);
}

struct MetricSides {
  std::vector<Sides> self;
  std::vector<Sides> inclusive;
};

inline constexpr std::uint8_t kInBefore = 1;
inline constexpr std::uint8_t kInAfter = 2;

struct MeanTree {
  std::shared_ptr<const Dictionary> dictionary;
  std::vector<Metric> metrics;  // ascending by name, each once
  std::uint64_t denominator = 1;
  std::uint64_t runs_before = 0;
  std::uint64_t runs_after = 0;
  std::vector<std::uint8_t> where;  // [path id]: the sides that contain it
  std::vector<MetricSides> values;  // [metric]

  const PathTable& paths() const { return dictionary->paths; }
};

// The mean per run: sums over the number of the tree's runs. kTooLarge if a sum is 2^127 or more.
Result<MeanTree> Average(const Tree& tree);

// The sum, over the least common multiple of the denominators; the same bits in any order and
// grouping. kInvalidArgument as for MatchMetrics(); kTooLarge if the denominator exceeds 64 bits, a
// sum of squares 128 bits, or a sum 127 bits. REQUIRES: at least one tree.
Result<WithRemarks<MeanTree>> Add(std::span<const MeanTree> trees);

// after - before: Add() of `after` and of `before` with its sides swapped.
Result<WithRemarks<MeanTree>> Difference(const MeanTree& before, const MeanTree& after);
// The difference of their averages.
Result<WithRemarks<MeanTree>> Difference(const Tree& before, const Tree& after);

// Only the values, in lowest terms: equal means and differences have equal bits, however they were
// computed.
struct NetValues {
  std::uint64_t denominator = 1;
  std::vector<std::vector<stats::Int128>> self;       // [metric][path id]
  std::vector<std::vector<stats::Int128>> inclusive;  // [metric][path id]
  bool operator==(const NetValues&) const = default;
};
NetValues Net(const MeanTree& tree);

}  // namespace fieldcost::tree

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/stats/cost_histogram.h"
#include "common/stats/log_sums.h"

namespace fieldcost::stats {

// The shape of an API's costs in a scenario. If several of the middle four apply, it is the first
// of them in this order.
enum class Shape {
  kTooFewCalls,  // below 100: no claim is made
  kGrows,        // with an argument, or with the value over which the scenario was scanned
  kBimodal,      // two typical costs, at least two octaves apart
  kHeavyTailed,  // a few calls cost far more than most
  kConstant,
  kVaried,      // none of these
  kTooFewRuns,  // constant except for a possible start-up, which needs 3 processes to be recognised
};

// A stable name: "too_few_calls", "grows", "bimodal", "heavy_tailed", "constant", "varied" or
// "too_few_runs".
std::string_view Name(Shape shape);

// A value that costs may grow with.
struct ShapeArgument {
  static constexpr unsigned kScanValue = 0;
  unsigned number = kScanValue;  // 1: the first argument
  InputSums sums;
  bool operator==(const ShapeArgument&) const = default;
};

// The data about one API. Impossible sums are ignored; the classification of inconsistent data is
// of little value.
struct ShapeInput {
  CostHistogram cost;         // ns of all timed calls, including first_calls
  LogSums log_cost;           // of the same calls
  CostHistogram first_calls;  // ns of the first call in each process
  std::uint64_t processes = 0;
  std::vector<ShapeArgument> arguments;
  std::uint64_t first_call_bytes = 0;  // allocated by first calls and by all others
  std::uint64_t other_bytes = 0;
};

// One log2 bucket of the argument: its calls' mean log2 cost, and the fitted one.
struct GrowthPoint {
  unsigned slot = 0;  // common/shm/log2_bucket.h
  std::uint64_t calls = 0;
  double octaves = 0;
  double fitted_octaves = 0;
};

struct Growth {
  unsigned argument = 0;    // ShapeArgument::number
  double exponent = 0;      // e of cost ~ n^e, far above the floor; too low if a fixed cost remains
  double r_squared = 0;     // of the monotone fit to the buckets' means, weighted by calls
  double rise_octaves = 0;  // of the fit, from the first bucket to the last
  double explained = 0;     // share of the variance of the calls' log2 costs
  std::vector<GrowthPoint> points;  // ascending
};

struct TwoPeaks {
  unsigned cheap_slot = 0;  // each peak's fullest bucket
  unsigned valley_slot = 0;
  unsigned dear_slot = 0;
  std::uint64_t cheap_calls = 0;  // in these buckets
  std::uint64_t valley_calls = 0;
  std::uint64_t dear_calls = 0;
  double dear_share = 0;  // share of calls above the valley
};

// Quantiles of cost in ns, by EstimateQuantile().
struct Spread {
  double p10 = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
};

struct StartUp {
  std::uint64_t processes = 0;
  std::uint64_t cheapest_first_ns = 0;  // lower edge of its bucket, so a lower bound
  double rest_ns = 0;                   // geometric mean of all other calls
  double ratio = 0;                     // of these two
};

struct ShapeResult {
  Shape shape = Shape::kTooFewCalls;
  std::optional<StartUp> start_up;  // with any shape except kTooFewCalls
  // Only first calls allocate, in at least 3 processes.
  bool allocates_at_first_only = false;
  Spread spread;                  // of the calls that `shape` describes; zero if there are too few
  std::optional<Growth> growth;   // for kGrows
  std::optional<TwoPeaks> peaks;  // for kBimodal
};

// Classifies by these rules, whose constants were tried on the distributions of FIGURES.md:
// - Start-up: there are at least 3 processes, and each made a first call. The cheapest first call
//   (its bucket's lower edge) costs at least 8 times the geometric mean of the other calls, at
//   least 20 us more than that mean (otherwise cold caches would qualify), and more than their p99.
//   The shape is then that of the other calls; there must be at least 100.
// - Grows: at least 4 log2 buckets of an argument, so 3 octaves, have 10 calls or more. The best
//   non-decreasing fit to their mean log2 costs, weighted by calls (pool adjacent violators, Ayer
//   et al. 1955; Barlow et al. 1972), has an R^2 of at least 0.8, rises by at least an octave, and
//   explains at least half of the variance of the calls in these buckets. If several arguments
//   qualify, the one that explains most is chosen. The exponent is the slope (least squares, same
//   weights) over the buckets that are fitted an octave or more above the first.
// - Bimodal: two buckets of cost, two or more apart, each have at least 5 % of the calls and at
//   least 30. The emptiest bucket between them has at most half as many calls as the lower peak,
//   and at least 4 standard errors (of a difference of two Poisson counts) fewer.
// - Heavy-tailed: p99/p50 >= 16 and p99/p90 >= 3. Constant: p90/p10 <= 1.5 and p99/p50 <= 2.
// Clocks have steps of up to 10 ns. So in ratios, costs below 16 ns count as 16, and for peaks, all
// costs below 32 ns are one bucket, whose height is a sixth of its calls, since it covers more than
// one octave. Pure, thread-safe; takes little more time than four calls of EstimateQuantile().
ShapeResult ClassifyShape(const ShapeInput& input);

// One line for people: "grows with argument 3, ~n^0.9"; "start-up >= 210 x, then constant".
std::string Sentence(const ShapeResult& result);

}  // namespace fieldcost::stats

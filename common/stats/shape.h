#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/stats/cost_histogram.h"
#include "common/stats/log_sums.h"

namespace fieldcost::stats {

// The shape of an API's costs in a scenario. Of the middle four, the first one that holds, in this
// order.
enum class Shape {
  kTooFewCalls,  // below 100: no claim is made
  kGrows,        // with an argument, or with what the scenario was scanned over
  kBimodal,      // two usual costs, at least two octaves apart
  kHeavyTailed,  // few calls cost very much more than most
  kConstant,
  kVaried,      // none of these
  kTooFewRuns,  // constant but for what a start-up may be: it is not known from below 3 processes
};

// "too_few_calls", "grows", "bimodal", "heavy_tailed", "constant", "varied",
// "too_few_runs": stable words.
std::string_view Name(Shape shape);

// A value that costs may grow with.
struct ShapeArgument {
  static constexpr unsigned kScanValue = 0;
  unsigned number = kScanValue;  // 1: the first argument
  InputSums sums;
  bool operator==(const ShapeArgument&) const = default;
};

// The data about one API. It need not be consistent, but its classification is then of little
// value: impossible sums are ignored.
struct ShapeInput {
  CostHistogram cost;         // ns of all timed calls, those of first_calls too
  LogSums log_cost;           // of the same calls
  CostHistogram first_calls;  // ns of the first call in each process
  std::uint64_t processes = 0;
  std::vector<ShapeArgument> arguments;
  std::uint64_t first_call_bytes = 0;  // allocated by the first calls, and by all the others
  std::uint64_t other_bytes = 0;
};

// One log2 bucket of the argument: its calls' mean log2 cost, and what the fit makes of it.
struct GrowthPoint {
  unsigned slot = 0;  // common/shm/log2_bucket.h
  std::uint64_t calls = 0;
  double octaves = 0;
  double fitted_octaves = 0;
};

struct Growth {
  unsigned argument = 0;    // ShapeArgument::number
  double exponent = 0;      // e of cost ~ n^e, far above the floor; low where a fixed cost remains
  double r_squared = 0;     // of the monotone fit to the buckets' means, each weighted by its calls
  double rise_octaves = 0;  // of the fit, from the first bucket to the last
  double explained = 0;     // share of the calls' variance (of log2 costs)
  std::vector<GrowthPoint> points;  // ascending
};

struct TwoPeaks {
  unsigned cheap_slot = 0;  // the fullest bucket of each
  unsigned valley_slot = 0;
  unsigned dear_slot = 0;
  std::uint64_t cheap_calls = 0;  // in these buckets
  std::uint64_t valley_calls = 0;
  std::uint64_t dear_calls = 0;
  double dear_share = 0;  // of all calls: those above the valley
};

// Quantiles of cost, ns, as EstimateQuantile() finds them.
struct Spread {
  double p10 = 0;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
};

struct StartUp {
  std::uint64_t processes = 0;
  std::uint64_t cheapest_first_ns = 0;  // the lower edge of its bucket: it cost at least that
  double rest_ns = 0;                   // geometric mean of all other calls
  double ratio = 0;                     // of these two
};

struct ShapeResult {
  Shape shape = Shape::kTooFewCalls;
  std::optional<StartUp> start_up;  // joins any shape but kTooFewCalls
  // Bytes are allocated by first calls and by no others, in at least 3 processes.
  bool allocates_at_first_only = false;
  Spread spread;                  // of the calls that `shape` is about; zero if they are too few
  std::optional<Growth> growth;   // of kGrows
  std::optional<TwoPeaks> peaks;  // of kBimodal
};

// The rules, with numbers that were tried on the distributions of FIGURES.md:
// - Start-up: the first calls of at least 3 processes, of each one; the cheapest (its bucket's
//   lower edge) is at least 8 times the geometric mean of the others, above their p99, and costs
//   more than that mean by 20 us. Without the last, cold caches are a start-up. Where it holds, the
//   shape is that of the others, at least 100.
// - Grows: at least 4 log2 buckets of an argument with 10 calls or more, so 3 octaves. Their mean
//   log2 costs, weighted by calls, get the best non-decreasing fit (pool adjacent violators, Ayer
//   et al. 1955; Barlow et al. 1972): its R^2 is at least 0.8, it rises by an octave, and explains
//   half of the variance of the calls in these buckets. Of several arguments it is the one that
//   explains most. The exponent is the slope (least squares, same weights) over the buckets that
//   are fitted an octave or more above the first.
// - Bimodal: two buckets of cost, two or more apart, each with 5 % of the calls and 30 at least;
//   the emptiest between them has at most half of the lower one's, and less by 4 standard errors
//   (of a difference of two Poisson counts).
// - Heavy-tailed: p99/p50 >= 16 and p99/p90 >= 3. Constant: p90/p10 <= 1.5 and p99/p50 <= 2.
// Clocks step by up to 10 ns: in ratios, costs below 16 ns count as 16, and for peaks those below
// 32 are one bucket, whose height is a sixth of its calls (it has more octaves than one). Pure,
// thread-safe; mostly the time of four EstimateQuantile().
ShapeResult ClassifyShape(const ShapeInput& input);

// One line for people: "grows with argument 3, ~n^0.9"; "start-up >= 210 x, then constant".
std::string Sentence(const ShapeResult& result);

}  // namespace fieldcost::stats

#include "common/stats/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/stats/quantiles.h"

namespace fieldcost::stats {
namespace {

constexpr std::uint64_t kFewestCalls = 100;
constexpr unsigned kFinestSlot = 5;  // 16 .. 31 ns; lower costs count as these
static_assert(shm::SlotMin(kFinestSlot) == 16);
constexpr double kFinestNs = 16;

constexpr std::uint64_t kStartUpProcesses = 3;
constexpr double kStartUpRatio = 8;
constexpr double kStartUpNs = 20'000;

constexpr std::uint64_t kPointCalls = 10;
constexpr std::size_t kFewestPoints = 4;  // hence at least three octaves
constexpr double kFitRSquared = 0.8;
constexpr double kRiseOctaves = 1;
constexpr double kExplained = 0.5;

constexpr unsigned kPeakDistance = 2;
constexpr std::uint64_t kPeakCalls = 30;
constexpr double kPeakShare = 0.05;
constexpr double kValleyShare = 0.5;
constexpr double kValleyErrors = 4;

constexpr double kTailToMedian = 16;
constexpr double kTailToP90 = 3;
constexpr double kConstantP90ToP10 = 1.5;
constexpr double kConstantP99ToP50 = 2;

double ToDouble(std::uint64_t n) { return static_cast<double>(n); }

// The ratio of two costs in ns.
double Ratio(double dear, double cheap) {
  return std::max(dear, kFinestNs) / std::max(cheap, kFinestNs);
}

// Computes the best non-decreasing fit by weighted least squares: replaces decreasing neighbours by
// their mean until there are none.
void FitMonotone(std::vector<GrowthPoint>& points) {
  struct Block {
    double mean;
    double weight;
    std::size_t points;
  };
  std::vector<Block> blocks;
  for (const GrowthPoint& point : points) {
    blocks.push_back({point.octaves, ToDouble(point.calls), 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean > blocks.back().mean) {
      const Block last = blocks.back();
      blocks.pop_back();
      Block& before = blocks.back();
      const double weight = before.weight + last.weight;
      before.mean = (before.mean * before.weight + last.mean * last.weight) / weight;
      before.weight = weight;
      before.points += last.points;
    }
  }
  std::size_t next = 0;
  for (const Block& block : blocks) {
    for (std::size_t i = 0; i < block.points; ++i) points[next++].fitted_octaves = block.mean;
  }
}

double ExponentOf(const std::vector<GrowthPoint>& points) {
  const double floor = points.front().fitted_octaves;
  auto first = std::ranges::find_if(points, [&](const GrowthPoint& point) {
    return point.slot > 0 && point.fitted_octaves >= floor + 1;
  });
  // If the whole rise is in the last bucket, use the slope that leads to it.
  if (points.end() - first < 2) first = points.end() - 2;
  double weight = 0;
  double mean_x = 0;
  double mean_y = 0;
  for (auto point = first; point != points.end(); ++point) {
    const double calls = ToDouble(point->calls);
    weight += calls;
    mean_x += calls * point->slot;
    mean_y += calls * point->octaves;
  }
  mean_x /= weight;
  mean_y /= weight;
  double products = 0;
  double squares = 0;
  for (auto point = first; point != points.end(); ++point) {
    const double calls = ToDouble(point->calls);
    const double x = point->slot - mean_x;
    products += calls * x * (point->octaves - mean_y);
    squares += calls * x * x;
  }
  return products / squares;  // not 0: at least two buckets, of different slots
}

std::optional<Growth> FindGrowth(const ShapeArgument& argument) {
  Growth growth{.argument = argument.number};
  double within = 0;
  double calls = 0;
  double mean = 0;
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    const LogSums& sums = argument.sums.by_bucket[slot];
    if (sums.count < kPointCalls || !IsPossible(sums)) continue;
    growth.points.push_back({.slot = slot, .calls = sums.count, .octaves = sums.Mean()});
    within += sums.SquaresAroundMean();
    calls += ToDouble(sums.count);
    mean += ToDouble(sums.count) * sums.Mean();
  }
  std::vector<GrowthPoint>& points = growth.points;
  if (points.size() < kFewestPoints) return std::nullopt;
  mean /= calls;
  FitMonotone(points);
  double between = 0;
  double left_over = 0;
  for (const GrowthPoint& point : points) {
    const double weight = ToDouble(point.calls);
    between += weight * (point.octaves - mean) * (point.octaves - mean);
    left_over += weight * std::pow(point.octaves - point.fitted_octaves, 2);
  }
  if (!(between > 0)) return std::nullopt;
  growth.r_squared = 1 - left_over / between;
  growth.explained = (between - left_over) / (between + within);
  growth.rise_octaves = points.back().fitted_octaves - points.front().fitted_octaves;
  growth.exponent = ExponentOf(points);
  if (growth.r_squared < kFitRSquared || growth.rise_octaves < kRiseOctaves) return std::nullopt;
  if (growth.explained < kExplained) return std::nullopt;
  return growth;
}

std::optional<Growth> MostExplainingGrowth(const std::vector<ShapeArgument>& arguments) {
  std::optional<Growth> most;
  for (const ShapeArgument& argument : arguments) {
    std::optional<Growth> growth = FindGrowth(argument);
    if (growth && (!most || growth->explained > most->explained)) most = std::move(growth);
  }
  return most;
}

// Finds the pair of peaks with the highest lower peak. Costs that the clock may be unable to
// distinguish share one bucket. That bucket covers all octaves down to 0, which a long lower tail
// fills, so its height is its average per octave.
std::optional<TwoPeaks> FindTwoPeaks(const CostHistogram& cost) {
  std::array<std::uint64_t, shm::kBucketSlots> calls{};
  cost.ForEachUsed([&](unsigned slot, const Bucket& bucket) {
    calls[std::max(slot, kFinestSlot)] += bucket.count;
  });
  const auto all = ToDouble(cost.count());
  const auto is_peak = [&](unsigned slot) {
    return calls[slot] >= kPeakCalls && ToDouble(calls[slot]) >= kPeakShare * all;
  };
  const auto height = [&](unsigned slot) {
    return ToDouble(calls[slot]) / (slot == kFinestSlot ? kFinestSlot + 1 : 1);
  };
  std::optional<TwoPeaks> found;
  double lowest = 0;  // lower peak's height in `found`
  for (unsigned cheap = kFinestSlot; cheap < shm::kBucketSlots; ++cheap) {
    if (!is_peak(cheap)) continue;
    for (unsigned dear = cheap + kPeakDistance; dear < shm::kBucketSlots; ++dear) {
      if (!is_peak(dear)) continue;
      const auto* valley = std::min_element(&calls[cheap + 1], &calls[dear]);
      const double lower = std::min(height(cheap), height(dear));
      const double depth = lower - ToDouble(*valley);
      if (ToDouble(*valley) > kValleyShare * lower || lower <= lowest) continue;
      if (depth < kValleyErrors * std::sqrt(lower + ToDouble(*valley))) continue;
      lowest = lower;
      found = {.cheap_slot = cheap,
               .valley_slot = static_cast<unsigned>(valley - calls.data()),
               .dear_slot = dear,
               .cheap_calls = calls[cheap],
               .valley_calls = *valley,
               .dear_calls = calls[dear]};
    }
  }
  if (!found) return std::nullopt;
  for (unsigned slot = found->valley_slot + 1; slot < shm::kBucketSlots; ++slot) {
    found->dear_share += ToDouble(calls[slot]) / all;
  }
  return found;
}

// The geometric mean in ns of all calls except first calls. Only the buckets' sums of first calls
// are known, so each counts as its bucket's mean, which is at most a tenth of an octave too high.
double RestGeometricMean(const ShapeInput& input) {
  if (!IsPossible(input.log_cost)) return 0;
  double octaves = input.log_cost.Mean() * ToDouble(input.log_cost.count);
  double calls = ToDouble(input.log_cost.count);
  input.first_calls.ForEachUsed([&](unsigned, const Bucket& bucket) {
    const double mean = static_cast<double>(bucket.sum) / ToDouble(bucket.count);
    octaves -= ToDouble(bucket.count) * std::log2(std::max(mean, 1.0));
    calls -= ToDouble(bucket.count);
  });
  return calls > 0 ? std::exp2(std::clamp(octaves / calls, 0.0, 64.0)) : 0;
}

// Removes the first calls from `rest` if they are a start-up.
std::optional<StartUp> TakeStartUp(const ShapeInput& input, CostHistogram& rest) {
  const std::uint64_t firsts = input.first_calls.count();
  if (firsts < kStartUpProcesses || firsts != input.processes) return std::nullopt;
  CostHistogram others = rest;
  if (!Validate(input.first_calls) || !others.Subtract(input.first_calls)) return std::nullopt;
  if (others.count() < kFewestCalls) return std::nullopt;
  unsigned cheapest = shm::kBucketSlots;
  input.first_calls.ForEachUsed(
      [&](unsigned slot, const Bucket&) { cheapest = std::min(cheapest, slot); });
  FIELDCOST_CHECK(cheapest < shm::kBucketSlots);  // a valid histogram with calls has a bucket
  StartUp start_up{.processes = firsts,
                   .cheapest_first_ns = shm::SlotMin(cheapest),
                   .rest_ns = RestGeometricMean(input)};
  const double first_ns = ToDouble(start_up.cheapest_first_ns);
  if (start_up.rest_ns <= 0 || first_ns < start_up.rest_ns + kStartUpNs) return std::nullopt;
  start_up.ratio = Ratio(first_ns, start_up.rest_ns);
  if (start_up.ratio < kStartUpRatio) return std::nullopt;
  if (first_ns <= EstimateQuantile(others, 0.99).estimate) return std::nullopt;
  rest = others;
  return start_up;
}

Spread SpreadOf(const CostHistogram& cost) {
  return {.p10 = EstimateQuantile(cost, 0.1).estimate,
          .p50 = EstimateQuantile(cost, 0.5).estimate,
          .p90 = EstimateQuantile(cost, 0.9).estimate,
          .p99 = EstimateQuantile(cost, 0.99).estimate};
}

Shape ShapeOf(const Spread& spread) {
  const double tail_to_median = Ratio(spread.p99, spread.p50);
  if (tail_to_median >= kTailToMedian && Ratio(spread.p99, spread.p90) >= kTailToP90) {
    return Shape::kHeavyTailed;
  }
  if (tail_to_median <= kConstantP99ToP50 && Ratio(spread.p90, spread.p10) <= kConstantP90ToP10) {
    return Shape::kConstant;
  }
  return Shape::kVaried;
}

std::string ShapeWords(const ShapeResult& result) {
  if (result.growth) {
    const std::string with = result.growth->argument == ShapeArgument::kScanValue
                                 ? std::string("the scanned value")
                                 : fmt::format("argument {}", result.growth->argument);
    return fmt::format("grows with {}, ~n^{:.1f}", with, result.growth->exponent);
  }
  if (result.peaks) {
    return fmt::format("bimodal, {:.0f} % of calls cost ~{:.0f} x the others",
                       100 * result.peaks->dear_share,
                       std::exp2(result.peaks->dear_slot - result.peaks->cheap_slot));
  }
  switch (result.shape) {
    case Shape::kTooFewCalls:
      return "too few calls";
    case Shape::kHeavyTailed:
      return fmt::format("heavy-tailed, 1 % of calls cost {} x the median or more",
                         FormatCount(static_cast<std::uint64_t>(
                             std::round(Ratio(result.spread.p99, result.spread.p50)))));
    case Shape::kConstant:
      return "constant";
    case Shape::kTooFewRuns:
      return "too few runs";
    default:
      return "varied";
  }
}

}  // namespace

std::string_view Name(Shape shape) {
  switch (shape) {
    case Shape::kTooFewCalls:
      return "too_few_calls";
    case Shape::kGrows:
      return "grows";
    case Shape::kBimodal:
      return "bimodal";
    case Shape::kHeavyTailed:
      return "heavy_tailed";
    case Shape::kConstant:
      return "constant";
    case Shape::kVaried:
      return "varied";
    case Shape::kTooFewRuns:
      return "too_few_runs";
  }
  return "";
}

ShapeResult ClassifyShape(const ShapeInput& input) {
  ShapeResult result;
  result.allocates_at_first_only =
      input.processes >= kStartUpProcesses && input.first_call_bytes > 0 && input.other_bytes == 0;
  if (input.cost.timed() < kFewestCalls || !Validate(input.cost)) return result;
  CostHistogram cost = input.cost;
  result.start_up = TakeStartUp(input, cost);
  result.spread = SpreadOf(cost);
  result.growth = MostExplainingGrowth(input.arguments);
  if (result.growth) {
    result.shape = Shape::kGrows;
    return result;
  }
  result.peaks = FindTwoPeaks(cost);
  result.shape = result.peaks ? Shape::kBimodal : ShapeOf(result.spread);
  const bool may_start_up = input.processes != 0 && input.processes < kStartUpProcesses;
  if (may_start_up && result.shape == Shape::kConstant) result.shape = Shape::kTooFewRuns;
  return result;
}

std::string Sentence(const ShapeResult& result) {
  std::string words = ShapeWords(result);
  if (result.start_up) {
    words = fmt::format("start-up >= {:.0f} x, then {}", result.start_up->ratio, words);
  }
  if (result.allocates_at_first_only) words += "; allocates in first calls only";
  return words;
}

}  // namespace fieldcost::stats

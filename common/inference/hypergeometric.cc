#include "common/inference/hypergeometric.h"

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "common/base/check.h"
#include "common/stats/uint128.h"

namespace fieldcost::inference {
namespace {

constexpr std::uint64_t kTables = 512;  // a power of two
constexpr std::uint64_t kPopulationEnd = std::uint64_t{1} << 62;
constexpr double kNegligible = 0x1p-53;
constexpr std::size_t kGuidesPerValue = 2;

double ToDouble(std::uint64_t n) { return static_cast<double>(n); }

}  // namespace

void HypergeometricTable::Build(const Hypergeometric& distribution, double cut) {
  const std::uint64_t marked = distribution.marked;
  const std::uint64_t drawn = distribution.drawn;
  const std::uint64_t population = distribution.population;
  FIELDCOST_CHECK(population < kPopulationEnd && marked <= population && drawn <= population);
  const std::uint64_t unmarked = population - marked;
  const std::uint64_t least = drawn > unmarked ? drawn - unmarked : 0;
  const std::uint64_t most = std::min(drawn, marked);
  const auto mode = static_cast<std::uint64_t>(stats::Uint128{drawn + 1} * (marked + 1) /
                                               (stats::Uint128{population} + 2));
  // P(x + 1) / P(x) = up(x) / down(x)
  const auto up = [&](std::uint64_t x) { return ToDouble(marked - x) * ToDouble(drawn - x); };
  const auto down = [&](std::uint64_t x) {
    return ToDouble(x + 1) * ToDouble(unmarked + x + 1 - drawn);
  };
  probabilities_.clear();
  first_ = std::clamp(mode, least, most);
  for (double p = 1; first_ > least; --first_) {
    p *= down(first_ - 1) / up(first_ - 1);
    if (!(p > cut)) break;
    probabilities_.push_back(p);
  }
  std::ranges::reverse(probabilities_);
  double p = 1;
  for (std::uint64_t x = first_ + probabilities_.size(); p > cut; ++x) {
    probabilities_.push_back(p);
    if (x == most) break;
    p *= up(x) / down(x);
  }
  cumulative_.resize(probabilities_.size());
  double total = 0;
  for (const double term : probabilities_) total += term;
  double sum = 0;
  for (std::size_t i = 0; i < probabilities_.size(); ++i) {
    probabilities_[i] /= total;
    cumulative_[i] = sum += probabilities_[i];
  }
  cumulative_.back() = 1;  // regardless of rounding, so that every uniform number finds a value
  guide_.resize(kGuidesPerValue * probabilities_.size());
  guide_scale_ = ToDouble(guide_.size());
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < guide_.size(); ++i) {
    while (cumulative_[value] * guide_scale_ <= ToDouble(i)) ++value;
    guide_[i] = value;
  }
}

struct HypergeometricSampler::Random {
  boost::random::mt19937_64 bits;
  boost::random::normal_distribution<double> normal;
};

HypergeometricSampler::HypergeometricSampler(std::uint64_t seed)
    : random_(std::make_unique<Random>()), tables_(kTables), held_(kTables) {
  random_->bits.seed(seed);
}

HypergeometricSampler::~HypergeometricSampler() = default;

void HypergeometricSampler::Reset(std::uint64_t population, std::uint64_t marked) {
  FIELDCOST_CHECK(population < kPopulationEnd && marked <= population);
  population_ = population;
  marked_ = std::min(marked, population - marked);
  swapped_ = marked_ != marked;
  size_ = ToDouble(population);
  share_ = population == 0 ? 0 : ToDouble(marked_) / size_;
  variance_scale_ = population < 2 ? 0 : share_ * (1 - share_) / (size_ - 1);
  skew_scale_ = (1 - 2 * share_) / (size_ - 2);
  excess_scale_ = 1 / ((size_ - 2) * (size_ - 3));
  excess_base_ = size_ * (size_ + 1) - 6 * size_ * share_ * (size_ - size_ * share_);
  // The variance increases up to half the population.
  most_exact_ = 0;
  std::uint64_t above = population / 2 + 1;
  while (above - most_exact_ > 1) {
    const std::uint64_t middle = most_exact_ + (above - most_exact_) / 2;
    (Variance(middle) <= kExactVariance ? most_exact_ : above) = middle;
  }
  std::ranges::fill(held_, 0);
}

double HypergeometricSampler::Variance(std::uint64_t drawn) const {
  return ToDouble(drawn) * variance_scale_ * ToDouble(population_ - drawn);
}

void HypergeometricSampler::Draw(std::span<const std::uint64_t> drawn,
                                 std::span<std::uint64_t> found) {
  std::uint64_t bits = 0;  // a table takes 32 of them
  bool has_bits = false;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    // With at most half drawn and at most half marked, the rounding error of the mean is a small
    // part of the deviation, however large the population.
    const bool rest = drawn[i] > population_ - drawn[i];
    const std::uint64_t few = rest ? population_ - drawn[i] : drawn[i];
    std::uint64_t here = 0;
    if (few > most_exact_) {
      here = DrawNormal(few);
    } else if (few != 0 && marked_ != 0) {
      bits = has_bits ? bits >> 32 : random_->bits();
      has_bits = !has_bits;
      here = TableOf(few).At(ToDouble(bits & 0xffffffff) * 0x1p-32);
    }
    if (rest) here = marked_ - here;
    found[i] = swapped_ ? drawn[i] - here : here;
  }
}

const HypergeometricTable& HypergeometricSampler::TableOf(std::uint64_t drawn) {
  const std::size_t place = drawn % kTables;
  if (held_[place] != drawn) {
    tables_[place].Build({.population = population_, .marked = marked_, .drawn = drawn},
                         kNegligible);
    held_[place] = drawn;
  }
  return tables_[place];
}

std::uint64_t HypergeometricSampler::DrawNormal(std::uint64_t drawn) {
  return AtNormal(drawn, random_->normal(random_->bits));
}

std::uint64_t HypergeometricSampler::AtNormal(std::uint64_t drawn, double z) const {
  const double n = ToDouble(drawn);
  const double variance = Variance(drawn);
  // Sheppard's corrections: a sum over integers equals an integral, bounded by half-integers, of
  // the density whose second cumulant is smaller by 1/12 and whose fourth is greater by 1/120.
  const double spread = variance - 1.0 / 12;
  const double deviation = std::sqrt(spread);
  const double inverse = 1 / deviation;
  const double inverse2 = inverse * inverse;
  const double skewness = skew_scale_ * (size_ - 2 * n) * variance * inverse2 * inverse;
  const double fourth = variance * excess_scale_ *
                        (excess_base_ - 6 * n * (size_ - n) + (30 * size_ - 36) * variance);
  const double excess = (fourth + 1.0 / 120) * inverse2 * inverse2;
  const double z2 = z * z;
  const double w = z + skewness * (z2 - 1) * (1.0 / 6) + excess * z * (z2 - 3) * (1.0 / 24) -
                   skewness * skewness * z * (2 * z2 - 5) * (1.0 / 36);
  const double value = n * share_ + deviation * w + 0.5;
  if (!(value >= 1)) return 0;
  return std::min({static_cast<std::uint64_t>(value), drawn, marked_});
}

}  // namespace fieldcost::inference

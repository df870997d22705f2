#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace fieldcost::inference {

// The distribution of the number of marked items among `drawn` ones that are drawn without
// replacement from `population` items, `marked` of them marked. REQUIRES everywhere: marked <=
// population, drawn <= population, population < 2^62.
struct Hypergeometric {
  std::uint64_t population = 0;
  std::uint64_t marked = 0;
  std::uint64_t drawn = 0;
};

// The probabilities of one hypergeometric distribution, computed from the mode outwards by the
// ratio of neighbours: the relative error is a few 2^-53 per step, and there is no cancellation.
// The cost is proportional to the standard deviation. Not thread-safe while Build() runs.
class HypergeometricTable {
 public:
  // Omits terms below `cut` times the greatest; with 0, only those that underflow.
  void Build(const Hypergeometric& distribution, double cut);

  // Element i is P(first() + i), scaled so that the sum is 1.
  std::uint64_t first() const { return first_; }
  std::span<const double> probabilities() const { return probabilities_; }

  // The inverse distribution function at `uniform` in [0, 1), in constant expected time by a guide
  // table (Chen and Asau 1974).
  std::uint64_t At(double uniform) const {
    std::size_t value = guide_[static_cast<std::size_t>(uniform * guide_scale_)];
    while (cumulative_[value] <= uniform) ++value;
    return first_ + value;
  }

 private:
  std::uint64_t first_ = 0;
  std::vector<double> probabilities_;
  std::vector<double> cumulative_;
  std::vector<std::uint32_t> guide_;
  double guide_scale_ = 0;  // its size
};

// Draws from the distributions with the same `population` and `marked` but varying `drawn`. Up to a
// variance of kExactVariance, draws are exact except for the rounding of doubles and terms below
// 2^-53 of the greatest. Above it, where a table would cost more than it saves, a draw is a normal
// variate rounded to whole items, with Sheppard's corrections and the Cornish-Fisher terms of
// skewness and excess kurtosis (Cornish and Fisher 1938). The error of its distribution function is
// below 6e-6 and falls with the cube of the standard deviation; the sampling error of 9,999 draws
// at p = 0.05 is 400 times that. Not thread-safe.
class HypergeometricSampler {
 public:
  static constexpr double kExactVariance = 64;

  explicit HypergeometricSampler(std::uint64_t seed);
  ~HypergeometricSampler();
  // Must be called before any of the following.
  void Reset(std::uint64_t population, std::uint64_t marked);

  // Stores a draw for each element of `drawn` in `found`, which has the same size.
  void Draw(std::span<const std::uint64_t> drawn, std::span<std::uint64_t> found);

  // The approximation for the standard normal variate `z`. REQUIRES: the variance is above
  // kExactVariance; drawn <= population / 2.
  std::uint64_t AtNormal(std::uint64_t drawn, double z) const;
  double Variance(std::uint64_t drawn) const;

 private:
  struct Random;  // Boost's 64-bit Mersenne twister, three times as fast as the library's
  const HypergeometricTable& TableOf(std::uint64_t drawn);
  std::uint64_t DrawNormal(std::uint64_t drawn);

  std::unique_ptr<Random> random_;
  std::uint64_t population_ = 0;
  std::uint64_t marked_ = 0;
  bool swapped_ = false;  // marked and unmarked are swapped, so that at most half are marked
  double size_ = 0;       // the population
  double share_ = 0;      // marked / population
  double variance_scale_ = 0;
  double skew_scale_ = 0;
  double excess_scale_ = 0;
  double excess_base_ = 0;
  std::uint64_t most_exact_ = 0;             // the greatest `drawn` with an exact table
  std::vector<HypergeometricTable> tables_;  // direct-mapped by `drawn`
  std::vector<std::uint64_t> held_;          // the `drawn` of each table, 0 if none
};

}  // namespace fieldcost::inference

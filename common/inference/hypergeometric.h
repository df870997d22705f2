#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace fieldcost::inference {

// Drawing `drawn` of `population` items without putting back; the number of the `marked` ones among
// them. REQUIRES everywhere: marked <= population, drawn <= population, population < 2^62.
struct Hypergeometric {
  std::uint64_t population = 0;
  std::uint64_t marked = 0;
  std::uint64_t drawn = 0;
};

// The probabilities of one hypergeometric distribution, from the ratio of neighbours outwards from
// the mode: every term has a relative error of a few 2^-53 per step, and nothing cancels. The cost
// is proportional to the standard deviation. Not thread-safe while Build() runs.
class HypergeometricTable {
 public:
  // Leaves out terms below `cut` times the greatest; 0 keeps all that do not underflow.
  void Build(const Hypergeometric& distribution, double cut);

  // P(first() + i), scaled to sum to 1.
  std::uint64_t first() const { return first_; }
  std::span<const double> probabilities() const { return probabilities_; }

  // The value at `uniform` in [0, 1) of the inverse distribution function, in constant expected
  // time by a guide table (Chen and Asau 1974).
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

// Draws from the distributions of one population and one mark, with varying `drawn`. Up to a
// variance of kExactVariance exact, but for the rounding of doubles and terms below 2^-53 of the
// greatest. Above, where a table would cost more than it saves, a normal variate rounded to whole
// items, with Sheppard's corrections and the Cornish-Fisher terms of skewness and excess (Cornish
// and Fisher 1938). Its distribution function is off by less than 6e-6, which falls with the cube
// of the standard deviation; the sampling error of 9,999 draws at p = 0.05 is 400 times that. Not
// thread-safe.
class HypergeometricSampler {
 public:
  static constexpr double kExactVariance = 64;

  explicit HypergeometricSampler(std::uint64_t seed);
  ~HypergeometricSampler();
  // REQUIRES before any of the following.
  void Reset(std::uint64_t population, std::uint64_t marked);

  // Puts a draw for each of `drawn` into `found`, of the same size.
  void Draw(std::span<const std::uint64_t> drawn, std::span<std::uint64_t> found);

  // The approximation at the standard normal variate `z`. REQUIRES: a variance above
  // kExactVariance, drawn <= population / 2.
  std::uint64_t AtNormal(std::uint64_t drawn, double z) const;
  double Variance(std::uint64_t drawn) const;

 private:
  struct Random;  // Boost's 64-bit Mersenne twister, three times as fast as the library's
  const HypergeometricTable& TableOf(std::uint64_t drawn);
  std::uint64_t DrawNormal(std::uint64_t drawn);

  std::unique_ptr<Random> random_;
  std::uint64_t population_ = 0;
  std::uint64_t marked_ = 0;
  bool swapped_ = false;  // marked and unmarked, so that at most half are marked
  double size_ = 0;       // the population
  double share_ = 0;      // marked / population
  double variance_scale_ = 0;
  double skew_scale_ = 0;
  double excess_scale_ = 0;
  double excess_base_ = 0;
  std::uint64_t most_exact_ = 0;             // the greatest `drawn` that tables serve
  std::vector<HypergeometricTable> tables_;  // direct-mapped by `drawn`
  std::vector<std::uint64_t> held_;          // the `drawn` of each table, 0 if none
};

}  // namespace fieldcost::inference

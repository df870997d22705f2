#pragma once

// The arithmetic of the weighted random pick, shared by who draws (the preload library), who gives
// the weights (the daemon) and who re-weights totals. No C++ runtime.
//
// A draw is uniform over the program's slots. The API it comes upon is taken with probability
// weight / kFullWeight, else drawn again, kDrawsPerPick times at most. So an API with `slots` slots
// and `weight` is taken by a draw with probability q = slots * weight / (candidate_count *
// kFullWeight), and nobody has to add up the weights of all others.
//
// For how many runs does a pick stand, so that the sum over measured runs is, without bias, that of
// all runs (Horvitz and Thompson 1952)? Let p be the sum of all q: the chance that a draw is taken.
// - A pick that was taken by a draw before the last stands for p / q runs, one that was taken by
//   the last for 1 / q: of all draws d < D it is sum (1-p)^(d-1) p = 1 - (1-p)^(D-1), and what is
//   left are the runs that gave up.
// - p is estimated by probe draws that take nothing: their mean weight / kFullWeight. They come
//   after the draws and do not depend on them, so that the mean of the product is the product of
//   the means, for one run alone.
// - Of `wanted` picks drawn together without replacement, number `order` (from 0) is drawn from
//   what those before it have left, with D draws of its own and a p of its own: what a probe draw
//   comes upon that was picked before it counts as nothing. Each number gives an estimate of the
//   total: those before it as they are, and itself times p / q; the mean of the estimates (Des Raj
//   1956) has (p / q + wanted - 1 - order) / wanted times its value. A number that gave up takes
//   part in the mean with those before it alone, and so the next is drawn all the same.
// - All this divided by the chance that the run, and its phase, were chosen at all. Runs that are
//   measured although the coin said no (kRunAsked, kRunForced) stand for nothing and stay on their
//   machine; of those that were asked for and chosen, too, nothing differs.
// What it stands for is then rounded at random to a power of two, with the same mean: exactly, it
// would tell the number of slots of a program, by which one could know it again.

#include <stdint.h>

#include "common/shm/mix.h"
#include "common/shm/policy_file.h"

namespace fieldcost::shm {

// FNV-1a 64 of "soname!symbol" or, if it has a symbol version, "soname!symbol@version".
constexpr uint64_t ApiHash(const char* soname, const char* symbol, const char* symbol_version) {
  const uint64_t hash = HashText(symbol, HashText("!", HashText(soname)));
  return *symbol_version == '\0' ? hash : HashText(symbol_version, HashText("@", hash));
}

inline constexpr uint32_t kDrawsPerPick = 128;
inline constexpr uint32_t kProbeDraws = 8;

// Whether a draw takes the API it came upon. `random` has 64 random bits.
constexpr bool TakesDraw(uint64_t random, uint32_t weight) { return (random >> 48) < weight; }

static_assert(ApiHash("", "", "") != ApiHash("a", "", ""));

// How a pick was drawn, as its run file tells.
struct DrawnPick {
  uint64_t candidate_count = 0;
  uint32_t slots = 0;   // of these
  uint32_t weight = 0;  // 1..kFullWeight
  uint32_t wanted = 0;  // 0: it stands for nothing
  uint32_t order = 0;
  uint32_t probe_draws = 0;
  uint32_t probe_weight = 0;
  bool by_last_draw = false;
};

// Chances per_65536 that all had to come true for the pick to be drawn at all.
struct Chances {
  uint32_t run = kCertain;    // the run was chosen
  uint32_t phase = kCertain;  // and, later in it, the pick's phase
  uint32_t time = kCertain;   // and that it records this metric
};

inline constexpr uint32_t kMostRunsStoodFor = uint32_t{1} << 24;
inline constexpr uint64_t kMostCandidates = uint64_t{1} << 24;
inline constexpr uint32_t kMostProbeDraws = 64;

// Whether `untrusted` is possible: then nothing below overflows.
constexpr bool IsPossible(const DrawnPick& untrusted) {
  return untrusted.wanted >= 1 && untrusted.wanted <= kMaxPicks &&
         untrusted.order < untrusted.wanted && untrusted.candidate_count <= kMostCandidates &&
         untrusted.slots >= 1 && untrusted.slots <= untrusted.candidate_count &&
         untrusted.weight >= 1 && untrusted.weight <= kFullWeight && untrusted.probe_draws >= 1 &&
         untrusted.probe_draws <= kMostProbeDraws &&
         untrusted.probe_weight <= untrusted.probe_draws * kFullWeight;
}
constexpr bool IsChance(uint32_t untrusted_chance) {
  return untrusted_chance >= 1 && untrusted_chance <= kCertain;
}

// For how many runs the pick stands: 0 or a power of two, up to kMostRunsStoodFor, whose mean over
// `random` (64 random bits) is exact. 0 if the pick or a chance is impossible.
constexpr uint32_t RunsStoodFor(const DrawnPick& untrusted_pick, const Chances& untrusted_chances,
                                uint64_t random) {
  __extension__ using Wide = unsigned __int128;
  const DrawnPick& pick = untrusted_pick;
  const Chances& chances = untrusted_chances;
  if (!IsPossible(pick) || !IsChance(chances.run) || !IsChance(chances.phase) ||
      !IsChance(chances.time)) {
    return 0;
  }
  // (p / q + later) / wanted / chances, a fraction of numbers below 2^104.
  const Wide unit = Wide{pick.probe_draws} * pick.slots * pick.weight;
  const Wide own = pick.by_last_draw ? Wide{pick.probe_draws} * kFullWeight : pick.probe_weight;
  const Wide over = (own * pick.candidate_count + unit * (pick.wanted - 1 - pick.order)) << 48;
  Wide under = unit * pick.wanted * chances.run * chances.phase * chances.time;
  uint32_t power = 1;
  for (; over >= 2 * under; power *= 2, under *= 2) {
    if (power == kMostRunsStoodFor) return power;
  }
  if (power == kMostRunsStoodFor) return power;
  const bool is_below_one = over < under;
  const uint32_t least = is_below_one ? 0 : power;
  const uint32_t most = is_below_one ? 1 : 2 * power;
  // `most` if a fraction with these random binary digits is below rest / under.
  Wide rest = is_below_one ? over : over - under;
  for (int digit = 63; digit >= 0 && rest != 0; --digit) {
    rest *= 2;
    const bool is_one = rest >= under;
    if (is_one) rest -= under;
    if (is_one != ((random >> digit & 1) != 0)) return is_one ? most : least;
  }
  return least;
}

// Random bits for that, which the run's picks do not depend on.
constexpr uint64_t RoundingBits(uint64_t random_draw, uint32_t pick_index) {
  return FinaliseBits(random_draw ^ (0xd1b54a32d192ed03 * (uint64_t{pick_index} + 1)));
}

}  // namespace fieldcost::shm

#pragma once

// The arithmetic of the weighted random pick, shared by the preload library (which draws), the
// daemon (which sets the weights) and the harvester (which re-weights totals). No C++ runtime.
//
// Only functions that the program calls are drawn. Before the program begins, each candidate is
// watched with a probability, `watched_per_65536`, that depends only on the numbers of slots and on
// whether the program itself imports it or only its libraries do; for libraries loaded by dlopen,
// also on the remaining room. Whether it is watched depends on its name and the run's random
// number. The first call of a watched function (a sighting) enters it into the draw: a weighted
// reservoir (Chao 1982). Its weight is added to the sum W of the weights of all functions sighted
// so far, and it takes the place of the pick with probability weight / W. So at any time, the place
// is held by one of the functions called so far, each with probability weight / W, and that
// function has been measured since its first call.
//
// With several places the draw is successive: a function that does not get place 0 is offered place
// 1, where W excludes the weight of place 0, and so on. A function that takes a place shifts the
// functions in it and after it by one; the one shifted out of the last place has lost its place.
//
// How many runs must a pick represent so that the sum over measured runs is an unbiased estimate of
// the sum over all runs (Horvitz and Thompson 1952)?
// - The pick in place 0 represents W / weight runs, among the watched functions. Both are known
//   exactly when the run ends.
// - Of `wanted` places, number `order` (from 0) is drawn from the rest after the places before it:
//   W excludes their weights. Each place gives an estimate of the total: the values of the places
//   before it, plus its own value times W / weight. In the mean of the estimates (Des Raj 1956) its
//   value counts (W / weight + wanted - 1 - order) / wanted times. A place that stays empty
//   contributes an estimate from the places before it only, which are then all functions.
// - All this is divided by the probability that the function was watched, and by the probability
//   that the run, and its phase, were chosen at all. Runs that are measured although they were not
//   selected (kRunAsked, kRunForced) represent no runs and stay on their machine; runs that were
//   both requested and selected are treated like any other. Picks that have lost their place
//   represent no runs.
// The result is then rounded at random to a power of two, with the same mean: the exact number
// would reveal which functions a program calls, which could identify it.

#include <stdint.h>

#include "common/shm/mix.h"
#include "common/shm/policy_file.h"

namespace fieldcost::shm {

// FNV-1a 64 of "soname!symbol" or, if it has a symbol version, "soname!symbol@version".
constexpr uint64_t ApiHash(const char* soname, const char* symbol, const char* symbol_version) {
  const uint64_t hash = HashText(symbol, HashText("!", HashText(soname)));
  return *symbol_version == '\0' ? hash : HashText(symbol_version, HashText("@", hash));
}

// For draws in a run whose results stay with its user, in which each slot is equally likely: the
// attempts per pick, and whether an attempt takes the API that it found. `random` has 64 random
// bits.
inline constexpr uint32_t kDrawsPerPick = 128;
constexpr bool TakesDraw(uint64_t random, uint32_t weight) { return (random >> 48) < weight; }

// Maximum number of functions watched at once. Fewer are expected when the program begins, since
// each costs microseconds and the rest is reserved for libraries loaded by dlopen: this many for
// one place, and one more per further place. At most two thirds of these are imported by the
// program itself, which is more likely to call them.
inline constexpr uint32_t kMaxWatched = 256;
inline constexpr uint32_t kExpectedWatched = 96;

// Libraries loaded later get one in this many of the remaining thunks.
inline constexpr uint32_t kShareOfRoom = 4;

// Probabilities that a function is watched.
struct WatchChances {
  uint32_t of_program;    // if the program imports it; not less than the other
  uint32_t of_libraries;  // if only libraries do
};

// Returns the probability with which, on average, `expected` of `slots` are watched.
constexpr uint32_t ShareOf(uint64_t expected, uint64_t slots) {
  return slots <= expected ? kCertain : static_cast<uint32_t>(expected * kCertain / slots) + 1;
}

// The probabilities in a process in which this many slots belong to the program and to its
// libraries, for a draw of `places` (1..kMaxPlaces).
constexpr WatchChances WatchChancesOf(uint64_t program_slots, uint64_t library_slots,
                                      uint32_t places) {
  const uint64_t expected = kExpectedWatched + places - 1;
  const uint64_t most_of_program = 2 * expected / 3;
  const uint64_t of_program = program_slots < most_of_program ? program_slots : most_of_program;
  const uint32_t program = ShareOf(of_program, program_slots);
  const uint32_t libraries = ShareOf(expected - of_program, library_slots);
  return {program, libraries < program ? libraries : program};
}

// The probability for names that first occur in slots of libraries loaded later. Starts with the
// one for libraries and only decreases: so a name that was rejected before is rejected again, and a
// new one is watched with exactly this probability, regardless of the remaining room.
constexpr uint32_t LaterChance(uint32_t chance, uint32_t room, uint64_t slots) {
  const uint32_t share = ShareOf(room / kShareOfRoom, slots);
  return share < chance ? share : chance;
}

// Functions of this name are watched in a process with this random number if the returned number is
// less than their probability.
constexpr uint32_t WatchNumber(const char* symbol, uint64_t random_names) {
  return static_cast<uint32_t>(FinaliseBits(HashText(symbol) ^ random_names) >> 48);
}

// The weighted reservoir.
inline constexpr uint32_t kMaxPlaces = 64;
inline constexpr uint32_t kNoPlace = ~uint32_t{0};
struct Places {
  uint32_t wanted;  // 1..kMaxPlaces
  uint32_t count;
  uint64_t called_weight;  // W: sum of the weights of all functions sighted
  struct Place {
    uint32_t weight;
    uint32_t pick;  // an index chosen by the caller
  } places[kMaxPlaces];
};

// Returns W for this place: excludes the weights of the places before it.
constexpr uint64_t WeightLeft(const Places& places, uint32_t order) {
  uint64_t left = places.called_weight;
  for (uint32_t i = 0; i < order; ++i) left -= places.places[i].weight;
  return left;
}

// Adds the weight (1..kFullWeight) of a sighted function. Returns the place that it takes, or
// kNoPlace. Changes no place yet.
constexpr uint32_t OfferPlaces(Places* places, uint32_t weight, uint64_t* random) {
  __extension__ using Wide = unsigned __int128;
  uint64_t left = places->called_weight += weight;
  for (uint32_t order = 0; order < places->count; ++order) {
    if (((Wide{NextRandom(random)} * left) >> 64) < weight) return order;
    left -= places->places[order].weight;
  }
  return places->count < places->wanted ? places->count : kNoPlace;
}

// Puts a pick into the place that OfferPlaces() returned. Returns the pick that lost its place, or
// kNoPlace.
constexpr uint32_t TakePlace(Places* places, uint32_t order, uint32_t weight, uint32_t pick) {
  uint32_t lost = kNoPlace;
  if (places->count == places->wanted) {
    lost = places->places[places->count - 1].pick;
  } else {
    ++places->count;
  }
  for (uint32_t i = places->count - 1; i > order; --i) places->places[i] = places->places[i - 1];
  places->places[order] = {weight, pick};
  return lost;
}

static_assert(ApiHash("", "", "") != ApiHash("a", "", ""));

// How a pick was drawn, according to its run file.
struct DrawnPick {
  uint64_t weight_left = 0;        // WeightLeft() of its place
  uint32_t weight = 0;             // 1..kFullWeight
  uint32_t wanted = 0;             // places; 0: it represents no runs
  uint32_t order = 0;              // its place
  uint32_t watched_per_65536 = 0;  // 1..kCertain
};

// The probabilities (per_65536) of all events that had to occur for the pick to be drawn.
struct Chances {
  uint32_t run = kCertain;    // the run was selected
  uint32_t phase = kCertain;  // then the pick's phase
  uint32_t time = kCertain;   // this metric is recorded
};

inline constexpr uint32_t kMostRunsStoodFor = uint32_t{1} << 24;
inline constexpr uint64_t kMostWeightLeft = uint64_t{kMaxWatched} * kFullWeight;

constexpr bool IsChance(uint32_t untrusted_chance);

// Whether `untrusted` is possible; then nothing below overflows.
constexpr bool IsPossible(const DrawnPick& untrusted) {
  return untrusted.wanted >= 1 && untrusted.wanted <= kMaxPlaces &&
         untrusted.order < untrusted.wanted && untrusted.weight >= 1 &&
         untrusted.weight <= kFullWeight && untrusted.weight_left >= untrusted.weight &&
         untrusted.weight_left <= kMostWeightLeft && IsChance(untrusted.watched_per_65536);
}
constexpr bool IsChance(uint32_t untrusted_chance) {
  return untrusted_chance >= 1 && untrusted_chance <= kCertain;
}

// Returns how many runs the pick represents: 0 or a power of two, up to kMostRunsStoodFor, whose
// mean over `random` (64 random bits) is exact. Returns 0 if the pick or a chance is impossible.
constexpr uint32_t RunsStoodFor(const DrawnPick& untrusted_pick, const Chances& untrusted_chances,
                                uint64_t random) {
  __extension__ using Wide = unsigned __int128;
  const DrawnPick& pick = untrusted_pick;
  const Chances& chances = untrusted_chances;
  if (!IsPossible(pick) || !IsChance(chances.run) || !IsChance(chances.phase) ||
      !IsChance(chances.time)) {
    return 0;
  }
  // (W / weight + later) / wanted / chances, a fraction of numbers below 2^104.
  const Wide later = pick.wanted - 1 - pick.order;
  const Wide over = (pick.weight_left + later * pick.weight) << 64;
  Wide under = Wide{pick.weight} * pick.wanted * pick.watched_per_65536;
  under = under * chances.run * chances.phase * chances.time;
  uint32_t power = 1;
  for (; over >= 2 * under; power *= 2, under *= 2) {
    if (power == kMostRunsStoodFor) return power;
  }
  if (power == kMostRunsStoodFor) return power;
  const bool is_below_one = over < under;
  const uint32_t least = is_below_one ? 0 : power;
  const uint32_t most = is_below_one ? 1 : 2 * power;
  // `most` if a fraction with these random binary digits is less than rest / under.
  Wide rest = is_below_one ? over : over - under;
  for (int digit = 63; digit >= 0 && rest != 0; --digit) {
    rest *= 2;
    const bool is_one = rest >= under;
    if (is_one) rest -= under;
    if (is_one != ((random >> digit & 1) != 0)) return is_one ? most : least;
  }
  return least;
}

// The random bits for RunsStoodFor(), independent of those that decide the run's picks.
constexpr uint64_t RoundingBits(uint64_t random_draw, uint32_t pick_index) {
  return FinaliseBits(random_draw ^ (0xd1b54a32d192ed03 * (uint64_t{pick_index} + 1)));
}

}  // namespace fieldcost::shm

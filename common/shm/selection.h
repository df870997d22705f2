#pragma once

// The arithmetic of the weighted random pick, shared by who draws (the preload library), who gives
// the weights (the daemon) and who re-weights totals. No C++ runtime.
//
// A draw is uniform over the program's slots. The API it comes upon is taken with probability
// weight / kFullWeight, else drawn again. So an API with `slots` slots and `weight` is taken with a
// probability proportional to slots * weight, and nobody has to add up the weights of all others.
//
// To re-weight (Horvitz and Thompson 1952): a run stands for
//   p * candidate_count * kFullWeight / (slots * weight) / selection probability
// runs, where p is the chance that a draw is taken at all. How many draws a run took is independent
// of what was taken, so p is estimated without bias from n runs of the same program as
// (n - 1) / (sum of draws - 1); for a single run it is 1 if draws == 1 and else 0. Where a run has
// several picks at once this is so for the first of them; each further one stands for what those
// before it left, to which theirs is to be added (Des Raj 1956).

#include <stdint.h>

namespace fieldcost::shm {

// FNV-1a 64 of "soname!symbol" or, if it has a symbol version, "soname!symbol@version".
constexpr uint64_t HashText(const char* text, uint64_t hash) {
  for (; *text != '\0'; ++text) {
    hash = (hash ^ static_cast<uint8_t>(*text)) * 0x100000001b3;
  }
  return hash;
}
constexpr uint64_t ApiHash(const char* soname, const char* symbol, const char* symbol_version) {
  uint64_t hash = HashText(soname, 0xcbf29ce484222325);
  hash = HashText(symbol, HashText("!", hash));
  return *symbol_version == '\0' ? hash : HashText(symbol_version, HashText("@", hash));
}

// Whether a draw takes the API it came upon. `random` has 64 random bits.
constexpr bool TakesDraw(uint64_t random, uint32_t weight) { return (random >> 48) < weight; }

static_assert(ApiHash("", "", "") != ApiHash("a", "", ""));

}  // namespace fieldcost::shm

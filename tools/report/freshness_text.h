#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.h"

namespace fieldcost::report {

// The words for how new and how complete a catalogue is, and whether it is made up: the same in
// terminals, editors and documents. Pure.

struct CatalogueFacts {
  std::uint64_t snapshot = 0;
  WallTime published{};
  std::uint32_t fragments_current = 0;
  std::uint32_t fragments_total = 0;
};

// Where numbers come from and how fresh they are.
struct Provenance {
  std::string source;          // "catalogue", "local" or "table"
  std::uint64_t snapshot = 0;  // 0 = none
  std::string published;       // as FormatTime(); empty = not published
  bool expired = false;
  bool synthetic = false;
};

// Said of all numbers that are made up; behind "SYNTHETIC: ", which pages and cards write with it.
inline constexpr char kMadeUpData[] = "made-up data";
inline constexpr char kSyntheticWords[] = "SYNTHETIC: made-up data";

// "snapshot 7, published 2024-10-02 00:00 UTC (expired)", or "measured on this machine".
std::string SnapshotWords(const Provenance& provenance);

// "catalogue: snapshot 7, published 2024-10-02 00:00 UTC (2 days ago), 3 of 4 fragments current"
std::string FreshnessText(const CatalogueFacts& facts, WallTime now);

// "out of date since 2024-10-03 23:00 UTC: fieldcost sync", of a snapshot that has expired.
std::string OutOfDateText(WallTime expired);

}  // namespace fieldcost::report

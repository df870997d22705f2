#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.h"

namespace fieldcost::report {

// Describes a catalogue's age and completeness, and whether it is synthetic, in the same words in
// terminals, editors and documents. Pure.

struct CatalogueFacts {
  std::uint64_t snapshot = 0;
  WallTime published{};
  std::uint32_t fragments_current = 0;
  std::uint32_t fragments_total = 0;
  bool incomplete = false;  // some fragments were never fetched, in any version
};

// The source of numbers, and its age.
struct Provenance {
  std::string source;          // "catalogue", "local" or "table"
  std::uint64_t snapshot = 0;  // 0 = none
  std::string published;       // as FormatTime(); empty = not published
  bool expired = false;
  bool synthetic = false;
  bool incomplete = false;  // some parts of the catalogue were never fetched
};

// Marks synthetic numbers; pages and cards print it after "SYNTHETIC: ".
inline constexpr char kMadeUpData[] = "made-up data";
inline constexpr char kSyntheticWords[] = "SYNTHETIC: made-up data";
// Marks lists of functions. The costs of each function in them are complete.
inline constexpr char kIncompleteWords[] =
    "INCOMPLETE: functions are missing, because parts of the catalogue were never fetched";

// "snapshot 7, published 2024-10-02 00:00 UTC (expired)", or "measured on this machine".
std::string SnapshotWords(const Provenance& provenance);

// "catalogue: snapshot 7, published 2024-10-02 00:00 UTC (2 days ago), 3 of 4 fragments current",
// followed by " (incomplete: fieldcost sync)" if it is.
std::string FreshnessText(const CatalogueFacts& facts, WallTime now);

// "out of date since 2024-10-03 23:00 UTC: fieldcost sync", for an expired snapshot.
std::string OutOfDateText(WallTime expired);

}  // namespace fieldcost::report

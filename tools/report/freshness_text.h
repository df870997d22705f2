#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.h"

namespace fieldcost::report {

// The words for how new and how complete a catalogue is: the same under costs in a terminal and in
// an editor. Pure.

struct CatalogueFacts {
  std::uint64_t snapshot = 0;
  WallTime published{};
  std::uint32_t fragments_current = 0;
  std::uint32_t fragments_total = 0;
};

inline constexpr char kMadeUpData[] = "this catalogue holds made-up data";

// "catalogue: snapshot 7, published 2024-10-02 00:00 UTC (2 days ago), 3 of 4 fragments current"
std::string FreshnessText(const CatalogueFacts& facts, WallTime now);

// "out of date since 2024-10-03 23:00 UTC: fieldcost sync", of a snapshot that has expired.
std::string OutOfDateText(WallTime expired);

}  // namespace fieldcost::report

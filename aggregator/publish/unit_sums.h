#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "aggregator/store/compact_row.h"
#include "aggregator/store/published_unit.h"
#include "common/stats/api_key.h"

namespace fieldcost::publish {

// A unit is an API and metric in one quarter (CUTS.md).

struct ClassInStore {
  stats::HardwareClass hardware;
  store::CompactRow sums;
};

// A unit's exact sums in the store at one moment.
struct UnitSums {
  store::CompactRow total;                                      // over all classes
  std::array<std::uint64_t, store::kWeeksOfUnit> week_calls{};  // modulo 2^64
  // The tracked classes that have rows, and the others with the most contributions, at most
  // kMaxTrackedClasses. Strictly ascending by hardware.
  std::vector<ClassInStore> classes;
  bool has_more = false;  // there are further classes
};

// The sums of a class; null if it is not listed.
const ClassInStore* FindClass(const UnitSums& sums, const stats::HardwareClass& hardware);

// Adds up a unit's rows. Needs memory for a bounded number of classes, however many agents invent.
// Not thread-safe.
class UnitCollector {
 public:
  // `published` is the unit's state, which must outlive this object.
  explicit UnitCollector(const store::PublishedUnit& published) : published_(published) {}

  // Adds a row of a week of the quarter. REQUIRES: week < kWeeksOfUnit; classes come in ascending
  // order, each without interruption.
  void Add(const stats::HardwareClass& hardware, unsigned week, const store::CompactRow& row);
  // Returns the sums. REQUIRES: is the last call.
  UnitSums Take();

 private:
  void EndClass();

  const store::PublishedUnit& published_;
  UnitSums sums_;
  bool has_class_ = false;
  ClassInStore class_;                    // the current one
  std::vector<ClassInStore> candidates_;  // not tracked; most contributions first
};

}  // namespace fieldcost::publish

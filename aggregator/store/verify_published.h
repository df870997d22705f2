#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "aggregator/store/compact_row.h"
#include "aggregator/store/published_reader.h"
#include "aggregator/store/store_reports.h"
#include "common/base/result.h"
#include "common/stats/api_key.h"

namespace fieldcost::store {

// Whether the sums are possible: histogram, scalars, weights and sizes. kCorrupt.
Status CheckSums(const CompactRow& sums);

// Checks the table of published units against the rows of the same moment: the cuts of a unit are
// part of its rows, unless a withdrawal is marked that no publication has handled, or some
// of its weeks have expired. Calls `problem` for each inconsistency; an entry that cannot be read
// is an error. Not thread-safe.
class PublishedCheck {
 public:
  struct Bounds {
    std::uint32_t first_week = 0;
    std::uint64_t published_number = 0;  // the greatest that the last publication contains
    std::uint64_t last_number = 0;       // the greatest that was assigned
  };
  using Problem = std::function<void(std::string text)>;
  PublishedCheck(PublishedReader reader, Bounds bounds, Problem problem)
      : reader_(std::move(reader)), bounds_(bounds), problem_(std::move(problem)) {}

  // Takes the rows of the moment, ascending by key. Rows of units that were never published cost
  // the comparison of two keys.
  Status Add(const stats::RowKey& key, const CompactRow& row);
  // Call after the last row. Stores in the report how many units and marks there are.
  Status Finish(VerifyReport& report);

 private:
  // A unit with a record that is compared with rows, and the sums of these.
  struct Unit {
    PublishedEntry entry;
    CompactRow rows;
    std::map<stats::HardwareClass, CompactRow> classes;  // the tracked ones
  };
  bool IsCurrent(const stats::ApiKey& api, stats::Metric metric) const {
    return metric == metric_ && api == api_;
  }
  // Begins with the rows of this API and metric: checks all units before them, and collects those
  // that belong to them.
  Status Begin(const stats::ApiKey& api, stats::Metric metric);
  Status ReadNext();
  void CheckEntry(const PublishedEntry& entry);
  void Compare(const Unit& unit);
  void Report(const PublishedKey& key, std::string_view what);

  PublishedReader reader_;
  const Bounds bounds_;
  const Problem problem_;
  bool started_ = false;
  const PublishedEntry* next_ = nullptr;  // not yet checked; null: none is left
  stats::ApiKey api_;                     // of the current rows
  stats::Metric metric_ = stats::Metric::kWallTime;
  std::vector<Unit> current_;  // of these rows; ascending by week
  std::uint64_t units_ = 0;
  std::uint64_t marks_ = 0;
};

}  // namespace fieldcost::store

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/stats/stat_row.h"

namespace fieldcost::analysis {

// Weeks as in stats::RowKey, both included.
struct WeekRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  bool operator==(const WeekRange&) const = default;
};

// Selects rows of an API. Empty members do not restrict the selection, so that the widest available
// rows are used (Summarise() of summary.h).
struct Selection {
  std::string version;         // glob over package versions
  std::string hardware_class;  // glob over the names of hardware classes (stats::DisplayName)
  std::optional<stats::Metric> metric;
  std::optional<WeekRange> weeks;
  bool operator==(const Selection&) const = default;
};

// Whether a row is selected. A class or week matches only rows for single ones, because rows over
// all classes or weeks cannot be divided.
bool IsMeant(const stats::RowKey& row, const Selection& selection);

// The selected rows, in the same order.
std::vector<stats::StatRow> Select(std::vector<stats::StatRow> rows, const Selection& selection);

// The metric with this name ("wall_time"); nullopt if none.
std::optional<stats::Metric> ParseMetric(std::string_view text);

// Parses "2026-11-19", the week that contains this day, and "2026-10-01..2026-11-19", a range of
// weeks. nullopt if the text is neither, a day is not between 1970 and 9999, or the second day
// precedes the first.
std::optional<WeekRange> ParseWeeks(std::string_view text);

// "2026-11-19", the first day of a week (weeks are counted from 1970-01-01, a Thursday).
std::string FirstDay(std::uint32_t week);

// The reason why none of these rows of `name` is selected, with the available values: "no version 9
// of deflate; there are 1.2, 1.3", or "no week 2026-11-12 of deflate, version 1.2; ..." if the week
// is missing only in combination with the other selections. Of many versions, lists those closest
// to the requested one. Escaped. REQUIRES: there are rows, and none is selected.
std::string MissingText(std::string_view untrusted_name, std::span<const stats::RowKey> rows,
                        const Selection& selection);

// The strata that numbers cover.
struct Strata {
  std::vector<std::string> classes;  // names, ascending; empty = all classes together
  std::string untrusted_class;       // the first class added, as display text (HardwareText)
  std::optional<WeekRange> weeks;    // nullopt = all weeks together

  // Adds the stratum of a row.
  void Add(const stats::RowKey& key);
};

// "all classes, all weeks" or "Intel, 2 cores, ..., weeks of 2026-11-05 to 2026-11-19"; escaped.
std::string StrataText(const Strata& strata);

}  // namespace fieldcost::analysis

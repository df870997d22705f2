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

// Which of the rows of an API are meant; what is empty chooses nothing, so that the widest rows
// there are decide (Summarise() of summary.h).
struct Selection {
  std::string version;         // glob over package versions
  std::string hardware_class;  // glob over the names of hardware classes (stats::DisplayName)
  std::optional<stats::Metric> metric;
  std::optional<WeekRange> weeks;
  bool operator==(const Selection&) const = default;
};

// Whether a row is meant. A class or week is only ever that of a row which is about single ones:
// rows over all classes or weeks are not divided.
bool IsMeant(const stats::RowKey& row, const Selection& selection);

// The rows that are meant, in the same order.
std::vector<stats::StatRow> Select(std::vector<stats::StatRow> rows, const Selection& selection);

// The metric of that name ("wall_time"), nullopt if there is none.
std::optional<stats::Metric> ParseMetric(std::string_view text);

// "2026-11-19" = the week with that day, "2026-10-01..2026-11-19" = from week to week. nullopt if
// it is neither, or no day between 1970 and 9999, or the second is before the first.
std::optional<WeekRange> ParseWeeks(std::string_view text);

// "2026-11-19", the first day of a week (weeks are counted from 1970-01-01, a Thursday).
std::string FirstDay(std::uint32_t week);

// Why none of these rows, which are of `name`, is meant: what was chosen and is not there, and what
// there is of its kind: "no version 9 of deflate; there are 1.2, 1.3", or "no week 2026-11-12 of
// deflate, version 1.2; ..." if the week is only not there with what was chosen before. Of many
// versions those next to the one asked for. Escaped. REQUIRES: rows; none of them is meant.
std::string MissingText(std::string_view untrusted_name, std::span<const stats::RowKey> rows,
                        const Selection& selection);

// The strata that numbers are of.
struct Strata {
  std::vector<std::string> classes;  // names, ascending; empty = all classes together
  std::string untrusted_class;       // the first that was added as people say it (HardwareText)
  std::optional<WeekRange> weeks;    // nullopt = all weeks together

  // Takes in the stratum of one more row.
  void Add(const stats::RowKey& key);
};

// "all classes, all weeks" or "Intel, 2 cores, ..., weeks of 2026-11-05 to 2026-11-19"; escaped.
std::string StrataText(const Strata& strata);

}  // namespace fieldcost::analysis

#include "tools/analysis/row_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <span>

#include "common/base/check.h"
#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/stats/metric_traits.h"
#include "tools/analysis/version_order.h"

namespace fieldcost::analysis {
namespace {

constexpr std::size_t kMaxListed = 6;

using Keys = std::vector<stats::RowKey>;

// Escaped texts without duplicates; of many, those around `middle`.
std::string ListAround(const std::vector<std::string>& texts, std::size_t middle) {
  const std::size_t count = std::min(texts.size(), kMaxListed);
  const std::size_t first =
      std::min(middle - std::min(middle, kMaxListed / 2), texts.size() - count);
  const std::string list = ListText(std::span(texts).subspan(first, count), count);
  return texts.size() == count ? list : fmt::format("{} and {} more", list, texts.size() - count);
}

std::string VersionsText(const Keys& rows, std::string_view wanted) {
  std::set<std::string, OlderVersion> versions;
  for (const stats::RowKey& row : rows) versions.insert(VersionOf(row.api));
  const std::vector<std::string> ordered(versions.begin(), versions.end());
  const auto place = std::lower_bound(ordered.begin(), ordered.end(), wanted, OlderVersion());
  return "available: " + ListAround(ordered, static_cast<std::size_t>(place - ordered.begin()));
}

std::string MetricsText(const Keys& rows) {
  std::set<std::string> names;
  for (const stats::RowKey& row : rows) names.emplace(stats::Name(row.metric));
  return "available: " + ListAround({names.begin(), names.end()}, 0);
}

std::string ClassesText(const Keys& rows) {
  std::set<std::string> names;
  for (const stats::RowKey& row : rows) {
    if (row.hardware != stats::HardwareClass{}) names.insert(DisplayName(row.hardware));
  }
  return names.empty() ? "available: only all classes together"
                       : "available: " + ListAround({names.begin(), names.end()}, 0);
}

std::string WeeksText(const Keys& rows) {
  std::set<std::uint32_t> weeks;
  for (const stats::RowKey& row : rows) {
    if (row.week != 0) weeks.insert(row.week);
  }
  return weeks.empty() ? "available: only all weeks together"
                       : fmt::format("available: weeks from {} to {}", FirstDay(*weeks.begin()),
                                     FirstDay(*weeks.rbegin()));
}

// One selected property.
struct Choice {
  std::string name;     // "version 9", escaped
  Selection selection;  // of this property only
  std::function<std::string(const Keys& rows)> there_are;
};

std::vector<Choice> ChoicesOf(const Selection& selection) {
  std::vector<Choice> choices;
  if (!selection.version.empty()) {
    choices.push_back({"version " + EscapeControl(selection.version),
                       {.version = selection.version},
                       [&](const Keys& rows) { return VersionsText(rows, selection.version); }});
  }
  if (selection.metric) {
    choices.push_back({"metric " + std::string(stats::Name(*selection.metric)),
                       {.metric = selection.metric},
                       MetricsText});
  }
  if (!selection.hardware_class.empty()) {
    choices.push_back({"class " + EscapeControl(selection.hardware_class),
                       {.hardware_class = selection.hardware_class},
                       ClassesText});
  }
  if (selection.weeks) {
    const std::string first = FirstDay(selection.weeks->first);
    const std::string last = FirstDay(selection.weeks->last);
    choices.push_back({"week " + (first == last ? first : first + ".." + last),
                       {.weeks = selection.weeks},
                       WeeksText});
  }
  return choices;
}

}  // namespace

// Whether the metric counts bytes, which cannot be measured in every program.
bool IsOfBytes(stats::Metric metric) { return stats::TraitsOf(metric).unit == "bytes"; }

bool IsMeant(const stats::RowKey& row, const Selection& selection) {
  const bool all_classes = row.hardware == stats::HardwareClass{};
  return (selection.version.empty() || GlobMatch(selection.version, row.api.package_version)) &&
         (!selection.metric || row.metric == *selection.metric ||
          (row.metric == stats::Metric::kNotMeasured && IsOfBytes(*selection.metric))) &&
         (selection.hardware_class.empty() ||
          (!all_classes && GlobMatch(selection.hardware_class, DisplayName(row.hardware)))) &&
         (!selection.weeks || (row.week != 0 && row.week >= selection.weeks->first &&
                               row.week <= selection.weeks->last));
}

std::vector<stats::StatRow> Select(std::vector<stats::StatRow> rows, const Selection& selection) {
  std::erase_if(rows, [&](const auto& row) { return !IsMeant(row.key, selection); });
  return rows;
}

std::optional<stats::Metric> ParseMetric(std::string_view text) {
  for (const stats::MetricTraits& traits : stats::kMetrics) {
    const bool is_value = traits.value_of != stats::ValueOf::kReason;
    if (is_value && traits.name == text) return traits.metric;
  }
  return std::nullopt;
}

std::optional<WeekRange> ParseWeeks(std::string_view text) {
  const std::size_t dots = text.find("..");
  const auto first = WeekOfDay(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : WeekOfDay(text.substr(dots + 2));
  if (!first || !last || *last < *first) return std::nullopt;
  return WeekRange{*first, *last};
}

std::string FirstDay(std::uint32_t week) { return FirstDayOf(week); }

std::string MissingText(std::string_view untrusted_name, std::span<const stats::RowKey> rows,
                        const Selection& selection) {
  FIELDCOST_CHECK(!rows.empty());
  std::string name = EscapeControl(untrusted_name);
  Keys left(rows.begin(), rows.end());
  std::string text;
  for (const Choice& choice : ChoicesOf(selection)) {
    Keys meant = left;
    std::erase_if(meant, [&](const auto& row) { return !IsMeant(row, choice.selection); });
    text = fmt::format("no {} of {}; {}", choice.name, name, choice.there_are(left));
    if (meant.empty()) break;
    left = std::move(meant);
    name += ", " + choice.name;
  }
  return text;
}

void Strata::Add(const stats::RowKey& key) {
  if (key.hardware != stats::HardwareClass{}) {
    std::string name = DisplayName(key.hardware);
    if (classes.empty()) untrusted_class = draw::HardwareText(key.hardware);
    const auto place = std::lower_bound(classes.begin(), classes.end(), name);
    if (place == classes.end() || *place != name) classes.insert(place, std::move(name));
  }
  if (key.week == 0) return;
  if (!weeks) weeks = WeekRange{key.week, key.week};
  weeks = WeekRange{std::min(weeks->first, key.week), std::max(weeks->last, key.week)};
}

std::string StrataText(const Strata& strata) {
  std::string text = "all classes";
  if (strata.classes.size() == 1) {
    text = EscapeControl(strata.untrusted_class);
  } else if (strata.classes.size() > 1) {
    text = fmt::format("{} classes together", strata.classes.size());
  }
  if (!strata.weeks) return text + ", all weeks";
  if (strata.weeks->first == strata.weeks->last) {
    return fmt::format("{}, week of {}", text, FirstDay(strata.weeks->first));
  }
  return fmt::format("{}, weeks of {} to {}", text, FirstDay(strata.weeks->first),
                     FirstDay(strata.weeks->last));
}

}  // namespace fieldcost::analysis

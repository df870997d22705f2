#include "tools/analysis/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/draw/numbers.h"

namespace fieldcost::analysis {
namespace {

constexpr std::size_t kMaxListed = 6;

std::string Join(const std::set<std::string>& texts) {
  std::string joined;
  std::size_t count = 0;
  for (const std::string& text : texts) {
    if (count++ == kMaxListed)
      return fmt::format("{} and {} more", joined, texts.size() - kMaxListed);
    joined += (joined.empty() ? "" : ", ") + EscapeControl(text);
  }
  return joined;
}

}  // namespace

std::vector<stats::StatRow> Select(std::vector<stats::StatRow> rows, const Selection& selection) {
  std::erase_if(rows, [&](const stats::StatRow& row) {
    const stats::RowKey& key = row.key;
    const bool all_classes = key.hardware == stats::HardwareClass{};
    return (!selection.version.empty() && !GlobMatch(selection.version, key.api.package_version)) ||
           (selection.metric && key.metric != *selection.metric) ||
           (!selection.hardware_class.empty() &&
            (all_classes || !GlobMatch(selection.hardware_class, DisplayName(key.hardware)))) ||
           (selection.weeks && (key.week == 0 || key.week < selection.weeks->first ||
                                key.week > selection.weeks->last));
  });
  return rows;
}

std::optional<stats::Metric> ParseMetric(std::string_view text) {
  for (unsigned number = 1; number <= shm::kMaxMetric; ++number) {
    const auto metric = static_cast<stats::Metric>(number);
    if (stats::Name(metric) == text) return metric;
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

std::string ChoiceText(std::span<const stats::StatRow> rows) {
  std::set<std::string> versions;
  std::set<std::string> classes;
  std::set<std::string> metrics;
  std::optional<WeekRange> weeks;
  for (const stats::StatRow& row : rows) {
    const stats::RowKey& key = row.key;
    versions.insert(key.api.package_version.empty() ? "(none)" : key.api.package_version);
    classes.insert(DisplayName(key.hardware));
    metrics.emplace(stats::Name(key.metric));
    if (key.week == 0) continue;
    if (!weeks) weeks = WeekRange{key.week, key.week};
    weeks = WeekRange{std::min(weeks->first, key.week), std::max(weeks->last, key.week)};
  }
  return fmt::format(
      "versions {}; classes {}; metrics {}; weeks {}", Join(versions), Join(classes), Join(metrics),
      weeks ? FirstDay(weeks->first) + ".." + FirstDay(weeks->last) : std::string("all together"));
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

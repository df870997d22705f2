// Text output of comparisons of events, and of builds over time (event_text.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "tools/cli/probe/event_text.h"
#include "tools/cli/probe/text_parts.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kLeastName = 12;
constexpr std::size_t kBarColumns = 20;

std::string Ratio(double ratio) {
  return ratio < 99.9995 ? fmt::format("{:.3f}", ratio) : fmt::format("{:.3g}", ratio);
}

std::string RatioText(const probe::StepChange& step) {
  return step.base_events == 0 || step.new_events == 0 ? "-" : Ratio(step.ratio);
}

// Both sides have at least 2 events.
bool HasInterval(const probe::StepChange& step) { return step.ratio_high != 0; }

std::string IntervalText(const probe::StepChange& step) {
  return fmt::format("{} to {}", Ratio(step.ratio_low), Ratio(step.ratio_high));
}

std::string QText(const probe::StepChange& step) {
  if (step.change == inference::Verdict::kTooLittleData) return "-";
  return step.q < 0.001 ? "<0.001" : fmt::format("{:.3f}", step.q);
}

std::string_view ChangeText(inference::Verdict change) {
  if (change == inference::Verdict::kNone) return "";
  return inference::Words(change, inference::Wording::kTime);
}

std::string MeanText(double ns, std::size_t events, const draw::Style& style) {
  return events == 0 ? "-" : draw::DurationText(ns, style);
}

draw::TextLine LineOf(const probe::StepChange& step, const draw::Style& style) {
  return {step.name.empty() ? "(all of it)" : EscapeControl(step.name),
          MeanText(step.base_ns, step.base_events, style),
          MeanText(step.new_ns, step.new_events, style),
          RatioText(step),
          HasInterval(step) ? IntervalText(step) : "-",
          QText(step),
          std::string(ChangeText(step.change)),
          fmt::format("{}, {}", step.base_events, step.new_events)};
}

std::string SideText(std::size_t events, std::size_t set_aside) {
  std::string text = Counted(events, "event");
  if (set_aside != 0) text += fmt::format(" ({} set aside)", set_aside);
  return text;
}

// The label and, if several groups have that label, what distinguishes this one.
std::string NameIn(const std::vector<probe::ComparedGroup>& groups, const probe::GroupKey& key) {
  const auto alike = std::ranges::count(
      groups, key.label, [](const probe::ComparedGroup& group) { return group.key.label; });
  return EscapeControl(probe::GroupText(
      alike > 1 ? key : probe::GroupKey{.label = key.label, .program = {}, .tags = {}}));
}

std::string PercentText(double share) { return fmt::format("{:.3g} %", 100 * share); }

std::string SlowerText(const std::vector<probe::ComparedGroup>& groups,
                       const probe::ComparedGroup& each) {
  const probe::StepChange& total = each.comparison.total;
  return fmt::format("{} takes {} times as long ({})", NameIn(groups, each.key), Ratio(total.ratio),
                     IntervalText(total));
}

std::string LostText(const char* side, const probe::SideFacts& facts) {
  if (facts.lost_hits == 0) return "";
  return fmt::format("  {}: {}\n", side, LostPointsText(facts));
}

std::string WaitText(const probe::SideFacts& facts) {
  return facts.measured_runs == 0 ? "not measured" : draw::ShareText(facts.wait_share);
}

std::string BuildsText(const std::vector<probe::BuildPoint>& history, const draw::Style& style) {
  double most = 0;
  for (const probe::BuildPoint& point : history) most = std::max(most, point.median_ns);
  std::vector<draw::TextLine> lines;
  for (const probe::BuildPoint& point : history) {
    const bool told = point.change.change != inference::Verdict::kTooLittleData;
    lines.push_back(
        {point.build.empty() ? "-" : EscapeControl(point.build), TimeText(point.first_ns),
         std::to_string(point.events), draw::DurationText(point.median_ns, style),
         BarText(most == 0 ? 0 : point.median_ns / most, kBarColumns, style),
         fmt::format("{} to {}", draw::DurationText(point.low_ns, style),
                     draw::DurationText(point.high_ns, style)),
         told ? RatioText(point.change) : "-", QText(point.change),
         point.change.base_events == 0 ? "" : std::string(ChangeText(point.change.change))});
  }
  return draw::TextTable({{.heading = "BUILD", .least = kLeastName},
                          {.heading = "FIRST (UTC)", .rank = 3},
                          {.heading = "EVENTS", .right = true, .rank = 2},
                          {.heading = "MEDIAN", .right = true},
                          {.heading = "", .rank = 4},
                          {.heading = "HALF OF THEM", .right = true, .rank = 3},
                          {.heading = "RATIO", .right = true},
                          {.heading = "Q", .right = true, .rank = 1},
                          {.heading = "CHANGE"}},
                         lines, style, "  ");
}

}  // namespace

std::string BarText(double share, std::size_t columns, const draw::Style& style) {
  const double exact = std::clamp(share, 0.0, 1.0) * static_cast<double>(columns);
  auto full = static_cast<std::size_t>(std::round(exact));
  if (full == 0 && share > 0) full = 1;
  std::string bar = "|";
  for (std::size_t i = 0; i < full; ++i) bar += style.utf8 ? "█" : "#";
  return bar + std::string(columns - full, ' ') + "|";
}

std::string ComparisonText(const probe::ComparedGroup& compared, const draw::Style& style) {
  const probe::Comparison& comparison = compared.comparison;
  std::string text = fmt::format("{}: old {}, new {}\n", EscapeControl(GroupText(compared.key)),
                                 SideText(comparison.total.base_events, compared.base_set_aside),
                                 SideText(comparison.total.new_events, compared.new_set_aside));
  if (compared.older != 0) {
    text +=
        fmt::format("  only the newest of each run, {} of a side; {} older ones left out\n",
                    draw::FormatCount(probe::kMostEventsOfSide), draw::FormatCount(compared.older));
  }
  std::vector<draw::TextLine> lines = {LineOf(comparison.total, style)};
  for (const probe::StepChange& step : comparison.steps) lines.push_back(LineOf(step, style));
  const char* const note = comparison.at_equal_wait
                               ? "  Ratios are those of runs that wait equally long for a CPU.\n"
                               : "";
  return text +
         draw::TextTable({{.heading = "STEP", .least = kLeastName},
                          {.heading = "OLD", .right = true},
                          {.heading = "NEW", .right = true},
                          {.heading = "RATIO", .right = true},
                          {.heading = "95 %", .right = true, .rank = 2},
                          {.heading = "Q", .right = true, .rank = 1},
                          {.heading = "CHANGE"},
                          {.heading = "EVENTS", .right = true, .rank = 3}},
                         lines, style, "  ") +
         note;
}

std::string SidesText(const probe::ComparedSides& sides, bool alternated) {
  std::string text;
  for (const probe::LeftOutGroup& group : sides.left_out) {
    text += fmt::format("  left out, since only the {} side has it: {}, {}\n",
                        group.is_of_base ? "old" : "new", EscapeControl(GroupText(group.key)),
                        Counted(group.events, "event"));
  }
  text += LostText("old side", sides.base) + LostText("new side", sides.changed);
  if (sides.loads_differ) {
    text += fmt::format(
        "  the sides ran under different load: their programs waited for a CPU {} of the time in "
        "which they\n  could run (old), {} (new){}\n",
        WaitText(sides.base), WaitText(sides.changed),
        alternated ? "" : ". Run both alternately: fieldcost probe compare -- OLD -- NEW");
  }
  return text.empty() ? text : text + "\n";
}

std::string ComparisonVerdict(const std::vector<probe::ComparedGroup>& comparisons, double least,
                              bool is_gate) {
  const inference::Verdict worst = WorstOf(comparisons);
  const auto total_is = [](inference::Verdict change) {
    return [change](const probe::ComparedGroup& each) {
      return each.comparison.total.change == change;
    };
  };
  const auto untold = static_cast<std::uint64_t>(
      std::ranges::count_if(comparisons, total_is(inference::Verdict::kTooLittleData)));
  const std::string rest = untold == 0 ? "" : "; too little data for " + Counted(untold, "label");
  if (worst == inference::Verdict::kTooLittleData) {
    return fmt::format("too little data: each side needs {} events of a label\n",
                       inference::kEventThresholds.least_values);
  }
  if (worst != inference::Verdict::kMore) {
    return fmt::format("{}: nothing takes {} longer{}\n", is_gate ? "ok" : "no slowdown",
                       least == 0 ? std::string("significantly") : "over " + PercentText(least),
                       rest);
  }
  std::string text = "slower: ";
  bool is_first = true;
  for (const probe::ComparedGroup& each : comparisons) {
    if (each.comparison.total.change != inference::Verdict::kMore) continue;
    text += (is_first ? "" : ", ") + SlowerText(comparisons, each);
    is_first = false;
  }
  if (is_gate) text += fmt::format("; the limit is {}", PercentText(least));
  return text + rest + "\n";
}

std::string HistoryText(const std::string& label, const std::vector<probe::HistoryLine>& history,
                        const probe::SideFacts& facts, const draw::Style& style) {
  std::string text;
  for (const probe::HistoryLine& line : history) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n",
                        EscapeControl(probe::GroupText({label, line.program, line.tags})));
    text += BuildsText(line.builds, style);
  }
  if (facts.lost_hits != 0) text += LostPointsText(facts) + "\n";
  return text;
}

}  // namespace fieldcost::cli

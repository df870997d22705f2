#include "tools/cli/probe/event_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "tools/cli/probe/text_parts.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kLeastPoint = 20;      // a file and its line
constexpr std::size_t kLeastEventName = 12;  // to which names are shortened on terminals
constexpr std::size_t kEventBarColumns = 24;
constexpr char kIndent[] = "  ";

std::string JudgementText(const probe::Judgement& verdict) {
  if (verdict.IsSetAside()) return EscapeControl(verdict.reason);
  return verdict.two_kinds ? "no: two kinds of such runs" : "";
}

std::string TotalText(const probe::EventRow& row, const draw::Style& style) {
  return row.end_ns == 0 ? "-" : draw::DurationText(static_cast<double>(row.TotalNs()), style);
}

std::string WhereText(const probe::EventHit& hit) {
  std::string text = EscapeControl(hit.site.file);
  if (!text.empty() && hit.site.line != 0) text += fmt::format(":{}", hit.site.line);
  if (text.empty()) text = EscapeControl(hit.site.function);
  return text;
}

std::string StackLines(const probe::EventHit& hit) {
  std::string text;
  for (std::size_t i = 0; i < hit.stack.size(); ++i) {
    const probe::Frame& frame = hit.stack[i];
    text += fmt::format("      #{} {}", i,
                        frame.function.empty() ? "?" : EscapeControl(frame.function));
    if (!frame.file.empty()) {
      text += " at " + EscapeControl(frame.file);
      if (frame.line != 0) text += fmt::format(":{}", frame.line);
    }
    if (!frame.module.empty()) text += " (" + EscapeControl(frame.module) + ")";
    text += '\n';
  }
  if (!hit.has_stack) return "      (no stack)\n";
  return text + (hit.stack_is_cut ? "      [truncated]\n" : "");
}

// Each line of a table followed by its text.
std::string Interleaved(const std::string& table, const std::vector<std::string>& below) {
  std::string text;
  std::size_t at = 0;
  for (std::size_t line = 0; at < table.size(); ++line) {
    const std::size_t end = table.find('\n', at) + 1;
    text.append(table, at, end - at);
    if (line > 0 && line <= below.size()) text += below[line - 1];
    at = end;
  }
  return text;
}

std::string EventStepsText(const probe::Event& event, bool stacks, const draw::Style& style) {
  const std::vector<probe::Step> steps = probe::StepsOf(event);
  if (steps.empty()) return "  (no steps: fewer than two points)\n";
  std::uint64_t all = 0;
  for (const probe::Step& step : steps) all += step.ns;
  std::vector<draw::TextLine> lines;
  std::vector<std::string> below;
  for (const probe::Step& step : steps) {
    const probe::EventHit& hit = event.hits[step.hit];
    const double share = all == 0 ? 0 : static_cast<double>(step.ns) / static_cast<double>(all);
    lines.push_back({EscapeControl(step.name),
                     draw::DurationText(static_cast<double>(step.ns), style),
                     BarText(share, kEventBarColumns, style), draw::ShareText(share),
                     fmt::format("{}{}", hit.thread, step.between_threads ? " (other)" : ""),
                     WhereText(hit), hit.value ? std::to_string(*hit.value) : ""});
    below.push_back(StackLines(hit));
  }
  const std::string table = draw::TextTable({{.heading = "STEP", .least = kLeastEventName},
                                             {.heading = "TIME", .right = true},
                                             {.heading = "", .rank = 3},
                                             {.heading = "SHARE", .right = true, .rank = 4},
                                             {.heading = "THREAD", .rank = 2},
                                             {.heading = "POINT",
                                              .rank = 1,
                                              .least = kLeastPoint,
                                              .keeps = draw::TextColumn::Keeps::kEnd},
                                             {.heading = "VALUE", .right = true, .rank = 2}},
                                            lines, style, kIndent);
  return stacks ? Interleaved(table, below) : table;
}

}  // namespace

std::string TimeText(std::uint64_t unix_ns) {
  const WallTime time{std::chrono::microseconds(unix_ns / 1000)};
  std::string text = draw::FormatTime(time);  // to the minute
  const std::size_t zone = text.find(" UTC");
  if (zone == std::string::npos) return text;
  return fmt::format("{}:{:02}", text.substr(0, zone), unix_ns / 1'000'000'000 % 60);
}

std::string LostPointsText(const probe::SideFacts& facts) {
  return fmt::format("{} lost in {} of {}; whole events may be missing",
                     Counted(facts.lost_hits, "point was", "points were"), facts.lost_runs,
                     Counted(facts.runs, "run"));
}

std::string TagsText(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text += (text.empty() ? "" : ",") + EscapeControl(tag);
  return text;
}

std::string EventTable(const std::vector<JudgedEvent>& events, const EventListText& rest,
                       const draw::Style& style) {
  const EventNames names(events);
  std::vector<draw::TextLine> lines;
  for (const auto& [row, verdict] : events) {
    lines.push_back({TimeText(row.begin_ns), EscapeControl(row.label), TotalText(row, style),
                     EscapeControl(row.program), EscapeControl(row.build), TagsText(row.tags),
                     names.Of(row.id), JudgementText(verdict)});
  }
  std::string text;
  if (!lines.empty()) {
    text = draw::TextTable({{.heading = "BEGUN (UTC)", .rank = 3},
                            {.heading = "LABEL", .least = kLeastEventName},
                            {.heading = "TOTAL", .right = true},
                            {.heading = "PROGRAM", .rank = 2, .least = kLeastEventName},
                            {.heading = "BUILD", .rank = 2, .least = kLeastEventName},
                            {.heading = "TAGS", .rank = 1, .least = kLeastEventName},
                            {.heading = "EVENT"},
                            {.heading = "SET ASIDE", .rank = 1, .least = kLeastEventName}},
                           lines, style);
  }
  if (lines.empty()) text = "no events\n";
  if (rest.older != 0) text += fmt::format("{} older: --limit\n", draw::FormatCount(rest.older));
  if (rest.set_aside != 0) {
    text += fmt::format("{} set aside: --all\n", draw::FormatCount(rest.set_aside));
  }
  if (rest.facts.lost_hits != 0) {
    text += LostPointsText(rest.facts) + "\n";
  }
  return text;
}

std::string EventText(const JudgedEvent& judged, const probe::Event& event, bool stacks,
                      const draw::Style& style) {
  const probe::EventRow& row = event.row;
  std::string text = fmt::format("{}  {}  {} UTC\n  event {}\n  {}", EscapeControl(row.label),
                                 TotalText(row, style), TimeText(row.begin_ns), row.id.Hex(),
                                 EscapeControl(row.program));
  if (!row.build.empty()) text += ", build " + EscapeControl(row.build);
  if (!row.tags.empty()) text += ", tags " + TagsText(row.tags);
  text += fmt::format(", session {:016x}\n", row.session);
  if (const std::string reason = JudgementText(judged.verdict); !reason.empty()) {
    text += "  set aside: " + reason + "\n";
  }
  if (row.lost_hits != 0) {
    text +=
        fmt::format("  {} lost in its run\n", Counted(row.lost_hits, "point was", "points were"));
  }
  text += "\n" + EventStepsText(event, stacks, style);
  if (event.hits_left_out != 0) {
    text += fmt::format("  {} more points not shown\n", draw::FormatCount(event.hits_left_out));
  }
  return text;
}

}  // namespace fieldcost::cli

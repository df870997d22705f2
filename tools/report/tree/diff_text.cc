#include "tools/report/tree/diff_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "tools/report/csv.h"
#include "tools/report/tree/text.h"
#include "tools/report/version_diff.h"

namespace fieldcost::report {
namespace {

using tree::Change;
using tree::Comparison;
using tree::PathId;

constexpr std::size_t kShownFrames = 3;  // of a path in a line: the innermost
constexpr std::size_t kLeastPathWidth = 24;
constexpr double kWorthAFactor = 0.005;

std::vector<PathId> PathsTo(const tree::Dictionary& dictionary, PathId path) {
  std::vector<PathId> paths;
  for (; path != tree::kRootPath; path = dictionary.paths.parent(path)) paths.push_back(path);
  std::ranges::reverse(paths);
  return paths;
}

std::string NameOf(const tree::Dictionary& dictionary, PathId path) {
  return path == tree::kRootPath ? "all" : analysis::NameOf(dictionary.frame(path));
}

std::string ShortPath(const tree::Dictionary& dictionary, PathId path) {
  const std::vector<PathId> paths = PathsTo(dictionary, path);
  if (paths.empty()) return "all";
  const std::size_t first = paths.size() - std::min(paths.size(), kShownFrames);
  std::string text = first == 0 ? "" : "...;";
  for (std::size_t i = first; i < paths.size(); ++i) {
    text += (i == first ? "" : ";") + NameOf(dictionary, paths[i]);
  }
  return EscapeControl(text);
}

std::string_view KindText(const Change& change) {
  return change.kind == tree::ValueKind::kSelf ? "self" : "incl";
}

std::string RatioText(const Change& change) {
  if (!(change.before > 0)) return "new";
  if (!(change.after > 0)) return "gone";
  return fmt::format("{:.2f}", change.after / change.before);
}

std::string MeanText(double value, const tree::Metric& metric, const draw::Style& style) {
  return CostText(static_cast<stats::Int128>(value * 1000), 1000, metric.unit, style);
}

}  // namespace

std::string CompareSentence(const Comparison& comparison, const tree::Metric& metric) {
  if (!comparison.is_enough) {
    return "Too little data: at least two runs of each are needed, ten for firm results";
  }
  std::string text;
  if (std::abs(comparison.factor - 1) >= kWorthAFactor) {
    text =
        fmt::format("All paths alike take {:.1f} % {}; apart from that, ",
                    100 * std::abs(comparison.factor - 1), comparison.factor > 1 ? "more" : "less");
  }
  const auto more = static_cast<std::size_t>(std::ranges::count_if(
      comparison.changes, [](const Change& one) { return one.difference() > 0; }));
  if (comparison.changes.empty()) {
    text += text.empty() ? "No significant changes" : "no significant changes";
  } else {
    text += fmt::format("{} more, {} less", Counted(more, "path costs", "paths cost"),
                        comparison.changes.size() - more);
  }
  return text + fmt::format(" ({}, {} values compared)", metric.name,
                            draw::FormatCount(comparison.tested));
}

std::string ChangesText(const Comparison& comparison, const tree::Metric& metric,
                        const draw::Style& style) {
  if (comparison.changes.empty()) return "";
  const std::vector<draw::TextColumn> columns = {
      {"BEFORE", true, 1}, {"AFTER", true}, {"RATIO", true},
      {"Q", true, 2},      {"", false},     {"PATH", false, 0, kLeastPathWidth}};
  std::vector<draw::TextLine> lines;
  for (const Change& change : comparison.changes) {
    lines.push_back({MeanText(change.before, metric, style), MeanText(change.after, metric, style),
                     RatioText(change), ProbabilityText(change.q), std::string(KindText(change)),
                     ShortPath(*comparison.dictionary, change.path)});
  }
  return draw::TextTable(columns, lines, style);
}

std::vector<std::string> MarksOf(const Comparison& comparison, const analysis::TreeView& view) {
  // Nodes by their frames: the dictionaries may differ.
  std::map<std::pair<std::uint32_t, tree::Frame>, std::uint32_t> children;
  for (std::uint32_t i = 1; i < view.nodes.size(); ++i) {
    children.emplace(std::pair(view.nodes[i].parent, view.frame(view.nodes[i])), i);
  }
  std::vector<std::string> marks(view.nodes.size());
  for (const Change& change : comparison.changes) {
    std::uint32_t node = 0;
    bool found = true;
    for (const PathId path : PathsTo(*comparison.dictionary, change.path)) {
      const auto child = children.find({node, comparison.dictionary->frame(path)});
      found = child != children.end();
      if (!found) break;
      node = child->second;
    }
    if (!found) continue;
    marks[node] += fmt::format("{}[{} {}]", marks[node].empty() ? "" : " ", KindText(change),
                               RatioText(change));
  }
  return marks;
}

std::string ChangesCsv(const Comparison& comparison) {
  const tree::Dictionary& dictionary = *comparison.dictionary;
  const CsvColumns<Change> columns = {
      {"kind",
       [](CsvWriter& csv, const Change& one) {
         csv.Text(one.kind == tree::ValueKind::kSelf ? "self" : "inclusive");
       }},
      {"path",
       [&](CsvWriter& csv, const Change& one) {
         std::string path;
         for (const PathId id : PathsTo(dictionary, one.path)) {
           path += (path.empty() ? "" : ";") + NameOf(dictionary, id);
         }
         csv.Text(path);
       }},
      {"before", [](CsvWriter& csv, const Change& one) { csv.Number(one.before); }},
      {"after", [](CsvWriter& csv, const Change& one) { csv.Number(one.after); }},
      {"factor", [&](CsvWriter& csv, const Change&) { csv.Number(comparison.factor); }},
      {"q", [](CsvWriter& csv, const Change& one) { csv.Number(one.q); }},
  };
  return CsvOf(columns, comparison.changes);
}

}  // namespace fieldcost::report

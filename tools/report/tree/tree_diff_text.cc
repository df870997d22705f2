#include "tools/report/tree/tree_diff_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "tools/report/csv.h"
#include "tools/report/tree/tree_text.h"
#include "tools/report/version_diff.h"

namespace fieldcost::report {
namespace {

using tree::Change;
using tree::Comparison;
using tree::PathId;

constexpr std::size_t kShownFrames = 3;  // the innermost frames of a path, on one line
constexpr std::size_t kLeastPathWidth = 24;
constexpr double kLeastCommon = 0.25;  // of the change of the whole, in logarithms
constexpr double kMostExactBytes = 0x1p53;
constexpr double kTimes = 2;  // from this ratio on, it is shown as such, not as a percentage

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

std::string TreeRatioText(const Change& change) {
  if (!(change.before > 0)) return "new";
  if (!(change.after > 0)) return "gone";
  return fmt::format("{:.2f}", change.after / change.before);
}

// Exact byte counts are shown to the byte.
std::string MeanText(double value, const tree::Metric& metric, const draw::Style& style,
                     unsigned digits) {
  if (metric.unit == tree::Unit::kBytes && !metric.sampled() && value == std::floor(value) &&
      value < kMostExactBytes) {
    return draw::FormatCount(static_cast<std::uint64_t>(value)) + " B";
  }
  return CostText(static_cast<stats::Int128>(value * 1000), 1000, metric.unit, style, digits);
}

// "210 ms → 300 ms", "62 → 461 calls".
std::string BothText(double before, double after, const tree::Metric& metric,
                     const draw::Style& style) {
  const unsigned digits = draw::DigitsToTell(before, after);
  return fmt::format("{} {} {}", MeanText(before, metric, style, digits), style.utf8 ? "→" : "->",
                     MeanText(after, metric, style, digits));
}

// The function without its module, for use in a sentence.
std::string FunctionOf(const tree::Dictionary& dictionary, PathId path) {
  if (path == tree::kRootPath) return "the program itself";
  const tree::Frame& frame = dictionary.frame(path);
  return EscapeControl(frame.kind == tree::FrameKind::kFunction ? frame.function
                                                                : NameOf(dictionary, path));
}

// "is 3.4 × slower", "takes 44 % more time".
std::string SpeedText(double before, double after, const draw::Style& style) {
  const bool is_more = after > before;
  const double times = is_more ? after / before : before / after;
  if (times >= kTimes) {
    return fmt::format("is {:.{}f} {} {}", times, times < 9.95 ? 1 : 0, style.utf8 ? "×" : "x",
                       is_more ? "slower" : "faster");
  }
  return fmt::format("takes {:.0f} % {} time", 100 * std::abs(after / before - 1),
                     is_more ? "more" : "less");
}

std::string ChangeText(const Change& change, const Comparison& comparison,
                       const tree::Metric& metric, const draw::Style& style) {
  std::string name = FunctionOf(*comparison.dictionary, change.path);
  if (change.kind == tree::ValueKind::kInclusive) name += " with what it calls";
  if (!(change.before > 0)) return name + " is new: " + MeanText(change.after, metric, style, 2);
  if (!(change.after > 0)) return name + " is gone: " + MeanText(change.before, metric, style, 2);
  if (tree::CompareOptionsFor(metric).depends_on_speed) {
    return name + " " + SpeedText(change.before, change.after, style);
  }
  return fmt::format("{}: {} {}", name, BothText(change.before, change.after, metric, style),
                     metric.name);
}

// The greatest increase of a function's self cost, else of its inclusive cost, else the greatest
// change; null without changes.
const Change* FirstChange(const Comparison& comparison) {
  const Change* first = nullptr;
  const auto rank = [](const Change& one) {
    return (one.difference() > 0 ? 2 : 0) + (one.kind == tree::ValueKind::kSelf ? 1 : 0);
  };
  for (const Change& change : comparison.changes) {
    if (first == nullptr || rank(change) > rank(*first)) first = &change;
  }
  return first;
}

// Exact values that never vary leave no doubt.
std::string CertaintyText(double p) { return p == 0 ? "exact" : ProbabilityText(p); }

// Whether a large part of the change of the whole is common to all paths, which a slower machine
// could cause as well.
bool MayBeTheMachine(const Comparison& comparison) {
  const tree::TotalChange& total = comparison.total;
  if (!(total.before > 0) || !(total.after > 0)) return false;
  return std::log(comparison.factor) / std::log(total.after / total.before) >= kLeastCommon;
}

std::string TotalText(const Comparison& comparison, const tree::Metric& metric, RunOrder order,
                      const draw::Style& style) {
  const tree::TotalChange& total = comparison.total;
  const double ratio = total.before > 0 ? total.after / total.before : 0;
  std::string text = "the total is ";
  if (ratio >= kTimes) {
    text += fmt::format("{:.1f} {} as high", ratio, style.utf8 ? "×" : "x");
  } else {
    text += fmt::format("{:.{}f} % {}", 100 * std::abs(ratio - 1),
                        std::abs(ratio - 1) < 0.1 ? 1 : 0, ratio > 1 ? "higher" : "lower");
  }
  const double p = total.p.value_or(1);
  text += fmt::format(" ({}{}{})", BothText(total.before, total.after, metric, style),
                      p == 0 ? ", " : ", p ", CertaintyText(p));
  if (order == RunOrder::kSeparate && MayBeTheMachine(comparison)) {
    const Change* const first = FirstChange(comparison);
    text += fmt::format(
        ": either the machine was {} or {} is", ratio > 1 ? "slower" : "faster",
        first == nullptr ? "the program" : FunctionOf(*comparison.dictionary, first->path));
  }
  return text;
}

std::string Capitalized(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

}  // namespace

std::string CompareSentence(const Comparison& comparison, const tree::Metric& metric,
                            RunOrder order, const draw::Style& style) {
  if (!comparison.is_enough) {
    return fmt::format(
        "Too little data ({}): at least two runs of each are needed, ten for firm results, and at "
        "least one value with 20 samples",
        metric.name);
  }
  std::vector<std::string> parts;
  const Change* const first = FirstChange(comparison);
  if (comparison.AreAllAlike()) {
    parts.push_back(fmt::format("All paths changed alike, by {:+.1f} % (p {})",
                                100 * (comparison.factor - 1),
                                ProbabilityText(comparison.factor_p.value_or(1))));
  }
  if (first != nullptr) parts.push_back(ChangeText(*first, comparison, metric, style));
  if (inference::IsChange(comparison.total.verdict)) {
    const std::string total = TotalText(comparison, metric, order, style);
    parts.push_back(parts.empty() ? Capitalized(total) : total);
  }
  if (parts.empty()) parts.emplace_back("No significant changes");
  if (!comparison.changes.empty()) {
    const auto more = static_cast<std::size_t>(std::ranges::count_if(
        comparison.changes, [](const Change& one) { return one.difference() > 0; }));
    parts.push_back(fmt::format("{} more, {} less", Counted(more, "path costs", "paths cost"),
                                comparison.changes.size() - more));
  }
  return fmt::format("{} ({}, {} values compared)", fmt::join(parts, "; "), metric.name,
                     draw::FormatCount(comparison.tested));
}

std::string ChangesText(const Comparison& comparison, const tree::Metric& metric,
                        const draw::Style& style, std::size_t most) {
  if (comparison.changes.empty()) return "";
  const std::vector<draw::TextColumn> columns = {
      {"OLD", true, 1}, {"NEW", true}, {"RATIO", true},
      {"Q", true, 2},   {"", false},   {"PATH", false, 0, kLeastPathWidth, true}};
  std::vector<draw::TextLine> lines;
  const std::size_t all = comparison.changes.size();
  const std::size_t shown = most == 0 ? all : std::min(most, all);
  for (const Change& change : std::span(comparison.changes).first(shown)) {
    const unsigned digits = draw::DigitsToTell(change.before, change.after);
    lines.push_back({MeanText(change.before, metric, style, digits),
                     MeanText(change.after, metric, style, digits), TreeRatioText(change),
                     CertaintyText(change.q), std::string(KindText(change)),
                     ShortPath(*comparison.dictionary, change.path)});
  }
  std::string text = draw::TextTable(columns, lines, style);
  if (shown < all) text += fmt::format("({} more: --all)\n", draw::FormatCount(all - shown));
  return text;
}

std::vector<std::string> MarksOf(const Comparison& comparison, const analysis::TreeView& view) {
  // Finds nodes by their frames, because the dictionaries may differ.
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
                               TreeRatioText(change));
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

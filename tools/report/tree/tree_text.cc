#include "tools/report/tree/tree_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/draw/name_text.h"
#include "common/draw/numbers.h"
#include "common/draw/text_table.h"
#include "tools/report/csv.h"

namespace fieldcost::report {
namespace {

using analysis::TreeView;
using analysis::ViewNode;
using analysis::ViewValue;

constexpr std::size_t kMaxIndent = 40;          // functions
constexpr std::size_t kMaxFunctionWidth = 100;  // of one function
constexpr std::size_t kLeastFunctionWidth = 24;
// Costs outside the functions of a tree: allocated bytes of a trace that selects a few functions.
constexpr std::string_view kInNone = "(outside these functions)";
constexpr double kSmallCount = 100;  // smaller means have a decimal

stats::Metric MetricLike(tree::Unit unit) {
  return unit == tree::Unit::kBytes ? stats::Metric::kAllocInclusive : stats::Metric::kWallTime;
}

double Mean(stats::Int128 sum, std::uint64_t denominator) {
  return static_cast<double>(sum) / static_cast<double>(denominator);
}

class TreePrinter {
 public:
  TreePrinter(const TreeView& view, const std::vector<std::string>& marked,
              const TreeTextOptions& options, const draw::Style& style)
      : view_(view), marked_(marked), options_(options), style_(style) {
    FIELDCOST_CHECK(marked.empty() || marked.size() == view.nodes.size());
    least_ = options.least_share * static_cast<double>(view.nodes[0].inclusive.Greater());
    FindShown();
  }

  std::string Print() {
    const std::size_t count = view_.nodes.size();
    for (std::size_t i = 1; i < count; ++i) {
      if (shown_[i]) PutNode(i);
      // After a node's last callee, adds the omitted callees.
      const std::size_t next_depth = i + 1 < count ? view_.nodes[i + 1].depth : 0;
      for (std::size_t at = i; view_.nodes[at].depth >= next_depth; at = view_.nodes[at].parent) {
        PutLeftOut(at);
        if (at == 0) break;
      }
    }
    const ViewNode& all = view_.nodes[0];
    if (all.self != ViewValue()) {
      Put(all.self, all.self, tree::kInBefore | tree::kInAfter, std::string(kInNone));
    }
    return draw::TextTable(Columns(), lines_, style_);
  }

 private:
  std::vector<draw::TextColumn> Columns() const {
    if (view_.IsDifference()) {
      return {{"OLD", true, 2},  {"NEW", true}, {"CHANGE", true},
              {"SELF", true, 1}, {"", false},   {"FUNCTION", false, 0, kLeastFunctionWidth, true}};
    }
    return {{"SHARE", true},
            {"COST", true},
            {"SELF", true, 1},
            {"FUNCTION", false, 0, kLeastFunctionWidth, true}};
  }

  std::string Cost(stats::Uint128 sum, unsigned digits = 2) const {
    return CostText(static_cast<stats::Int128>(sum), view_.denominator, view_.metric.unit, style_,
                    digits);
  }
  std::string Change(const ViewValue& value) const {
    const stats::Int128 change = value.Change();
    return (change > 0 ? "+" : "") + CostText(change, view_.denominator, view_.metric.unit, style_);
  }

  void FindShown() {
    const std::size_t count = view_.nodes.size();
    shown_.resize(count);
    left_out_.resize(count);
    shown_[0] = true;
    for (std::size_t i = 1; i < count; ++i) {
      const ViewNode& node = view_.nodes[i];
      const bool is_great = static_cast<double>(node.inclusive.Greater()) >= least_ ||
                            (!marked_.empty() && !marked_[i].empty()) ||
                            (!options_.kept.empty() && options_.kept[i]);
      const bool is_high = options_.max_depth == 0 || node.depth <= options_.max_depth;
      shown_[i] = shown_[node.parent] && is_great && is_high;
      if (!shown_[i] && shown_[node.parent]) {
        ++left_out_[node.parent].count;
        left_out_[node.parent].value.before += node.inclusive.before;
        left_out_[node.parent].value.after += node.inclusive.after;
      }
    }
  }

  std::string Indented(std::size_t depth, const std::string& text) const {
    return std::string(2 * std::min(depth, kMaxIndent), ' ') + text;
  }

  void PutNode(std::size_t i) {
    const ViewNode& node = view_.nodes[i];
    std::string name =
        Indented(node.depth - 1,
                 draw::ShortenName(analysis::NameOf(view_.frame(node)), kMaxFunctionWidth, style_));
    if (!marked_.empty() && !marked_[i].empty()) name += "  " + EscapeControl(marked_[i]);
    Put(node.inclusive, node.self, node.where, std::move(name));
  }

  void PutLeftOut(std::size_t parent) {
    const LeftOut out = std::exchange(left_out_[parent], {});
    if (out.value.before == 0 && out.value.after == 0) return;  // nothing with a cost
    Put(out.value, {}, tree::kInBefore | tree::kInAfter,
        Indented(view_.nodes[parent].depth,
                 fmt::format("({} more)", draw::FormatCount(out.count))));
  }

  void Put(const ViewValue& value, const ViewValue& self, std::uint8_t where, std::string name) {
    if (!view_.IsDifference()) {
      lines_.push_back({draw::ShareText(value.after, view_.nodes[0].inclusive.after),
                        Cost(value.after), self.after == 0 ? "" : Cost(self.after),
                        std::move(name)});
      return;
    }
    const std::string what = where == tree::kInAfter    ? "new"
                             : where == tree::kInBefore ? "gone"
                                                        : "";
    const unsigned digits =
        draw::DigitsToTell(static_cast<double>(value.before), static_cast<double>(value.after));
    lines_.push_back({Cost(value.before, digits), Cost(value.after, digits), Change(value),
                      self.Change() == 0 ? "" : Change(self), what, std::move(name)});
  }

  struct LeftOut {
    std::size_t count = 0;
    ViewValue value;
  };

  const TreeView& view_;
  const std::vector<std::string>& marked_;
  const TreeTextOptions& options_;
  const draw::Style& style_;
  double least_ = 0;
  std::vector<bool> shown_;
  std::vector<LeftOut> left_out_;
  std::vector<draw::TextLine> lines_;
};

}  // namespace

std::string CostText(stats::Int128 sum, std::uint64_t denominator, tree::Unit unit,
                     const draw::Style& style, unsigned digits) {
  const double mean = Mean(sum, denominator);
  if (unit != tree::Unit::kCount) {
    const std::string size = draw::FormatSpread(std::abs(mean), MetricLike(unit), style, digits);
    return mean < 0 ? "-" + size : size;
  }
  const double rounded = std::round(std::abs(mean));
  const bool is_whole = rounded == std::abs(mean) || std::abs(mean) >= kSmallCount;
  // The greatest sums round up to 2^64.
  const std::uint64_t whole = rounded < 0x1p64 ? static_cast<std::uint64_t>(rounded) : UINT64_MAX;
  const std::string count =
      is_whole ? draw::FormatCount(whole) : fmt::format("{:.1f}", std::abs(mean));
  return mean < 0 ? "-" + count : count;
}

std::string TreeText(const TreeView& view, const std::vector<std::string>& marked,
                     const TreeTextOptions& options, const draw::Style& style) {
  return TreePrinter(view, marked, options, style).Print();
}

std::string FlatText(const TreeView& view, const TreeTextOptions& options,
                     const draw::Style& style) {
  std::vector<const ViewNode*> rows;
  const bool by_first =
      std::ranges::any_of(view.nodes, [](const auto& node) { return node.depth > 1; });
  const ViewNode& root = view.nodes[0];
  if (root.self != ViewValue()) rows.push_back(&root);
  for (std::size_t i = 1; i < view.nodes.size(); ++i) {
    // The cost of a thread outside all functions is a row, too.
    const ViewNode& node = view.nodes[i];
    if (!by_first || node.depth > 1 || node.self != analysis::ViewValue()) rows.push_back(&node);
  }
  const std::size_t all = rows.size();
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const ViewNode* node) { return node->self.Greater(); });
  const double least = options.least_share * static_cast<double>(view.nodes[0].inclusive.Greater());
  std::erase_if(rows, [least](const ViewNode* node) {
    return static_cast<double>(node->inclusive.Greater()) < least;
  });
  if (options.max_rows != 0 && rows.size() > options.max_rows) rows.resize(options.max_rows);
  const auto cost = [&](stats::Int128 sum) {
    return CostText(sum, view.denominator, view.metric.unit, style);
  };
  std::vector<draw::TextColumn> columns = {{"SHARE", true}, {"SELF", true}, {"INCLUSIVE", true}};
  if (view.IsDifference()) columns.insert(columns.end(), {{"SELF +-", true}, {"INCL +-", true, 1}});
  if (by_first) columns.push_back({"THREAD", false, 0, kLeastFunctionWidth});
  columns.push_back({"FUNCTION", false, 0, kLeastFunctionWidth, true});
  std::vector<draw::TextLine> lines;
  for (const ViewNode* node : rows) {
    const ViewValue& inclusive = node == &root ? node->self : node->inclusive;
    lines.push_back({draw::ShareText(node->self.after, view.nodes[0].inclusive.after),
                     cost(static_cast<stats::Int128>(node->self.after)),
                     cost(static_cast<stats::Int128>(inclusive.after))});
    if (view.IsDifference()) {
      lines.back().push_back(cost(node->self.Change()));
      lines.back().push_back(cost(inclusive.Change()));
    }
    if (node == &root) {
      if (by_first) lines.back().emplace_back();
      lines.back().emplace_back(kInNone);
      continue;
    }
    const auto name = [&](const ViewNode& of) {
      return draw::ShortenName(analysis::NameOf(view.frame(of)), kMaxFunctionWidth, style);
    };
    const bool has_thread = by_first && node->depth > 1;
    if (by_first) lines.back().push_back(name(has_thread ? view.nodes[node->parent] : *node));
    lines.back().push_back(by_first && !has_thread ? "" : name(*node));
  }
  std::string text = draw::TextTable(columns, lines, style);
  if (rows.size() < all) {
    text += fmt::format("({} of {} functions; all: --all)\n", draw::FormatCount(rows.size()),
                        draw::FormatCount(all));
  }
  return text;
}

std::string CalleesText(const TreeView& view, const TreeTextOptions& options,
                        const draw::Style& style) {
  const auto cost = [&](stats::Int128 sum) {
    return CostText(sum, view.denominator, view.metric.unit, style);
  };
  std::vector<draw::TextColumn> columns = {{"SHARE", true}, {"INCLUSIVE", true}, {"SELF", true}};
  if (view.IsDifference()) columns.insert(columns.end(), {{"INCL +-", true}, {"SELF +-", true, 1}});
  columns.push_back({"FUNCTION", false, 0, kLeastFunctionWidth, true});
  std::vector<draw::TextLine> lines;
  std::size_t of_caller = 0;  // shown below the current one
  for (const ViewNode& node : std::span(view.nodes).subspan(1)) {
    const bool is_caller = node.depth == 1;
    const ViewNode& caller = is_caller ? node : view.nodes[node.parent];
    of_caller = is_caller ? 0 : of_caller + 1;
    const double least = options.least_share * static_cast<double>(caller.inclusive.Greater());
    const bool is_beyond = options.max_rows != 0 && of_caller > options.max_rows;
    if (!is_caller && (is_beyond || static_cast<double>(node.inclusive.Greater()) < least)) {
      continue;
    }
    lines.push_back({draw::ShareText(node.inclusive.after, caller.inclusive.after),
                     cost(static_cast<stats::Int128>(node.inclusive.after)),
                     cost(static_cast<stats::Int128>(node.self.after))});
    if (view.IsDifference()) {
      lines.back().push_back(cost(node.inclusive.Change()));
      lines.back().push_back(cost(node.self.Change()));
    }
    lines.back().push_back(draw::ShortenName(
        (is_caller ? "" : "  ") + analysis::NameOf(view.frame(node)), kMaxFunctionWidth, style));
  }
  std::string text = draw::TextTable(columns, lines, style);
  if (lines.size() < view.nodes.size() - 1) {
    text += fmt::format("({} of {} functions; all: --all)\n", draw::FormatCount(lines.size()),
                        draw::FormatCount(view.nodes.size() - 1));
  }
  return text;
}

std::string TreeCsv(const TreeView& view) {
  using Index = std::size_t;  // of a node
  const tree::Frame no_frame;
  const auto frame = [&](Index i) -> const tree::Frame& {
    return i == 0 ? no_frame : view.frame(view.nodes[i]);
  };
  const CsvColumns<Index> columns = {
      {"node", [&](CsvWriter& csv, Index i) { csv.Count(i); }},
      {"parent", [&](CsvWriter& csv, Index i) { csv.Count(view.nodes[i].parent); }},
      {"depth", [&](CsvWriter& csv, Index i) { csv.Count(view.nodes[i].depth); }},
      {"module", [&](CsvWriter& csv, Index i) { csv.Text(frame(i).module); }},
      {"function", [&](CsvWriter& csv, Index i) { csv.Text(frame(i).function); }},
      {"file", [&](CsvWriter& csv, Index i) { csv.Text(frame(i).file); }},
      {"build_id", [&](CsvWriter& csv, Index i) { csv.Text(HexEncode(frame(i).build_id)); }},
      {"offset", [&](CsvWriter& csv, Index i) { csv.Count(frame(i).offset); }},
      {"metric", [&](CsvWriter& csv, Index) { csv.Text(view.metric.name); }},
      {"unit", [&](CsvWriter& csv, Index) { csv.Text(tree::Name(view.metric.unit)); }},
      {"runs_before", [&](CsvWriter& csv, Index) { csv.Count(view.runs_before); }},
      {"runs_after", [&](CsvWriter& csv, Index) { csv.Count(view.runs_after); }},
      {"denominator", [&](CsvWriter& csv, Index) { csv.Count(view.denominator); }},
      {"self_before", [&](CsvWriter& csv, Index i) { csv.Sum(view.nodes[i].self.before); }},
      {"self", [&](CsvWriter& csv, Index i) { csv.Sum(view.nodes[i].self.after); }},
      {"inclusive_before",
       [&](CsvWriter& csv, Index i) { csv.Sum(view.nodes[i].inclusive.before); }},
      {"inclusive", [&](CsvWriter& csv, Index i) { csv.Sum(view.nodes[i].inclusive.after); }},
  };
  std::vector<Index> indices(view.nodes.size());
  std::iota(indices.begin(), indices.end(), Index{0});
  return CsvOf(columns, indices);
}

}  // namespace fieldcost::report

#include "tools/report/checked_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/stats/cxx_name.h"

namespace fieldcost::report {
namespace {

using stats::Verdict;

constexpr std::size_t kMaxIndent = 40;      // functions
constexpr std::size_t kMaxNameWidth = 100;  // of a frame
constexpr draw::Rgb kWorseColor{230, 60, 40};

bool IsFlagged(const analysis::CheckedApi& api) {
  return api.comparison.verdict == Verdict::kWorse;
}

struct FrameName {
  std::string_view module;  // empty = unknown
  std::string_view symbol;
};

FrameName ParseFrame(std::string_view frame) {
  FrameName name{.module = {}, .symbol = frame};
  if (const std::size_t mark = frame.find_first_of("!`"); mark != std::string_view::npos) {
    name.module = frame.substr(0, mark);
    name.symbol = frame.substr(mark + 1);
    name.module.remove_prefix(name.module.rfind('/') + 1);
  }
  std::string_view& symbol = name.symbol;
  // "_[j]", "_[k]", ...: what kind of code it is, as stackcollapse scripts say.
  if (symbol.size() > 4 && symbol.ends_with(']') && symbol.substr(symbol.size() - 4, 2) == "_[") {
    symbol.remove_suffix(4);
  }
  symbol = symbol.substr(0, symbol.find("+0x"));
  symbol = symbol.substr(0, symbol.find('@'));  // "@plt", "@@GLIBC_2.2.5"
  return name;
}

// A file may be called libz.so.1.2.13 where the soname is libz.so.1.
bool IsFileOf(std::string_view module, std::string_view soname) {
  return module.starts_with(soname) &&
         (module.size() == soname.size() || module[soname.size()] == '.');
}

// Dearest first, equal ones by name.
std::vector<std::uint32_t> SortedChildren(const analysis::StackTree& tree, std::uint32_t node) {
  std::vector<std::uint32_t> children = tree.nodes()[node].children;
  std::sort(children.begin(), children.end(), [&](std::uint32_t a, std::uint32_t b) {
    const analysis::StackTree::Node& one = tree.nodes()[a];
    const analysis::StackTree::Node& other = tree.nodes()[b];
    return one.total != other.total ? one.total > other.total
                                    : tree.untrusted_name(one) < tree.untrusted_name(other);
  });
  return children;
}

class TreePrinter {
 public:
  TreePrinter(const analysis::StackTree& tree, const CheckedTree& checked, const draw::Style& style)
      : tree_(tree), checked_(checked), style_(style), all_(tree.nodes()[0].total) {}

  std::string Print() {
    text_ = "   TOTAL     SELF\n";
    PrintChildren(0, 0);
    return std::move(text_);
  }

 private:
  std::string Share(std::uint64_t value) const {
    const double share = all_ == 0 ? 0 : static_cast<double>(value) / static_cast<double>(all_);
    return fmt::format("{:6.1f} %", 100 * share);
  }

  bool IsWorthALine(std::uint32_t node) const {
    const double least = kLeastShare * static_cast<double>(all_);
    return checked_.nodes[node].leads_to_flagged ||
           static_cast<double>(tree_.nodes()[node].total) >= least;
  }

  // REQUIRES: a depth of at most kMaxFoldedFrames, as all trees have.
  void PrintChildren(std::uint32_t node, std::size_t depth) {
    std::size_t left_out = 0;
    std::uint64_t left_out_total = 0;
    for (const std::uint32_t child : SortedChildren(tree_, node)) {
      if (IsWorthALine(child)) {
        PrintNode(child, depth);
        PrintChildren(child, depth + 1);
      } else {
        ++left_out;
        left_out_total += tree_.nodes()[child].total;
      }
    }
    if (left_out != 0) {
      text_ += fmt::format("{} {:8}   {}({} more)\n", Share(left_out_total), "", Indent(depth),
                           draw::FormatCount(left_out));
    }
  }

  void PrintNode(std::uint32_t index, std::size_t depth) {
    const analysis::StackTree::Node& node = tree_.nodes()[index];
    std::string name = draw::Shorten(tree_.untrusted_name(node), kMaxNameWidth, style_);
    char sign = ' ';
    if (const analysis::CheckedApi* api = checked_.nodes[index].flagged) {
      sign = '!';
      name = draw::Paint(name, kWorseColor, style_.color) +
             fmt::format("  {}, ratio {:.2f}, q {:.2g}", stats::Name(api->comparison.verdict),
                         api->comparison.ratio, api->comparison.q);
    }
    text_ += fmt::format("{} {} {} {}{}\n", Share(node.total), Share(node.self), sign,
                         Indent(depth), name);
  }

  static std::string Indent(std::size_t depth) {
    return depth <= kMaxIndent ? std::string(2 * depth, ' ')
                               : std::string(2 * kMaxIndent, ' ') + fmt::format("[{}] ", depth);
  }

  const analysis::StackTree& tree_;
  const CheckedTree& checked_;
  const draw::Style& style_;
  std::uint64_t all_;
  std::string text_;
};

}  // namespace

FrameNames::FrameNames(const analysis::CheckReport& report, Which which) {
  // The worst come first in a report.
  for (const analysis::CheckedApi& api : report.apis) {
    if (which == Which::kWorse && !IsFlagged(api)) continue;
    // Profilers write names of C++ demangled, some of them without arguments.
    const std::string name = stats::DemangledName(api.key.api.symbol);
    for (const std::string& one :
         std::set<std::string>{api.key.api.symbol, name, stats::NameWithoutArguments(name)}) {
      by_name_[one].push_back(&api);
    }
  }
}

const analysis::CheckedApi* FrameNames::Find(std::string_view untrusted_frame) const {
  const FrameName name = ParseFrame(untrusted_frame);
  const auto place = by_name_.find(name.symbol);
  if (place == by_name_.end()) return nullptr;
  for (const analysis::CheckedApi* api : place->second) {
    if (name.module.empty() || IsFileOf(name.module, api->key.api.soname)) return api;
  }
  return nullptr;
}

CheckedTree Highlight(const analysis::StackTree& tree, const analysis::CheckReport& report) {
  const FrameNames names(report);
  CheckedTree checked;
  checked.nodes.resize(tree.nodes().size());
  std::set<const analysis::CheckedApi*> seen;
  std::vector<bool> inside_worse(tree.nodes().size(), false);
  // Parents have lower numbers than their children.
  for (std::uint32_t i = 1; i < tree.nodes().size(); ++i) {
    const analysis::StackTree::Node& node = tree.nodes()[i];
    checked.nodes[i].flagged = names.Find(tree.untrusted_name(node));
    inside_worse[i] = inside_worse[node.parent];
    const analysis::CheckedApi* api = checked.nodes[i].flagged;
    if (api == nullptr) continue;
    seen.insert(api);
    if (!inside_worse[i]) checked.flagged_total += node.total;
    inside_worse[i] = true;
  }
  checked.worse_seen = seen.size();
  for (auto i = static_cast<std::uint32_t>(tree.nodes().size()); i-- > 1;) {
    CheckedTree::Node& node = checked.nodes[i];
    node.leads_to_flagged = node.leads_to_flagged || node.flagged != nullptr;
    if (node.leads_to_flagged) checked.nodes[tree.nodes()[i].parent].leads_to_flagged = true;
  }
  std::vector<std::uint32_t> to_do = {0};
  while (!to_do.empty()) {
    const std::uint32_t node = to_do.back();
    to_do.pop_back();
    if (node != 0) checked.order.push_back(node);
    const std::vector<std::uint32_t> children = SortedChildren(tree, node);
    to_do.insert(to_do.end(), children.rbegin(), children.rend());
  }
  return checked;
}

std::string CheckedTreeText(const analysis::StackTree& tree, const analysis::CheckReport& report,
                            std::string_view untrusted_unit, const draw::Style& style) {
  const CheckedTree checked = Highlight(tree, report);
  const std::uint64_t all = tree.nodes()[0].total;
  std::string text = TreePrinter(tree, checked, style).Print();
  text += fmt::format(
      "{}{}{} in all; {} of {} APIs that are worse than the field (!) are in it, "
      "with {:.1f} % of it\n",
      draw::FormatCount(all), untrusted_unit.empty() ? "" : " ", EscapeControl(untrusted_unit),
      checked.worse_seen, report.Count(Verdict::kWorse),
      all == 0 ? 0 : 100 * static_cast<double>(checked.flagged_total) / static_cast<double>(all));
  return text;
}

}  // namespace fieldcost::report

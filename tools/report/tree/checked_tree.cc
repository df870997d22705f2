#include "tools/report/tree/checked_tree.h"

#include <fmt/format.h>

#include <set>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/draw/numbers.h"
#include "common/names/cxx_name.h"
#include "common/tree/identity.h"
#include "tools/report/tree/tree_text.h"

namespace fieldcost::report {
namespace {

using analysis::CheckedApi;
using inference::Verdict;

bool IsFlagged(const CheckedApi& api) { return api.comparison.verdict == Verdict::kMore; }

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
  // "_[j]", "_[k]", ...: the kind of code, as marked by stackcollapse scripts.
  if (symbol.size() > 4 && symbol.ends_with(']') && symbol.substr(symbol.size() - 4, 2) == "_[") {
    symbol.remove_suffix(4);
  }
  symbol = symbol.substr(0, symbol.find("+0x"));
  symbol = symbol.substr(0, symbol.find('@'));  // "@plt", "@@GLIBC_2.2.5"
  return name;
}

// A file may be called libz.so.1.2.13 while the soname is libz.so.1.
bool IsFileOf(std::string_view module, std::string_view soname) {
  return module.starts_with(soname) &&
         (module.size() == soname.size() || module[soname.size()] == '.');
}

// The mark after the name of a flagged function.
std::string MarkOf(const CheckedApi& api) {
  return fmt::format("! {}, ratio {:.2f}, q {:.2g}",
                     inference::Words(api.comparison.verdict, inference::Wording::kField),
                     api.comparison.ratio, api.comparison.q);
}

}  // namespace

FrameNames::FrameNames(const analysis::CheckReport& report, Which which) {
  // A report lists the worst APIs first.
  for (const CheckedApi& api : report.apis) {
    if (which == Which::kWorse && !IsFlagged(api)) continue;
    // Profilers write C++ names demangled, some of them without arguments.
    const std::string name = names::DemangledName(api.key.api.symbol);
    for (const std::string& one :
         std::set<std::string>{api.key.api.symbol, name, names::NameWithoutArguments(name)}) {
      by_name_[one].push_back(&api);
    }
  }
}

const CheckedApi* FrameNames::Find(std::string_view untrusted_frame) const {
  const FrameName name = ParseFrame(untrusted_frame);
  const auto place = by_name_.find(name.symbol);
  if (place == by_name_.end()) return nullptr;
  for (const CheckedApi* api : place->second) {
    if (name.module.empty() || IsFileOf(name.module, api->key.api.soname)) return api;
  }
  return nullptr;
}

const CheckedApi* FrameNames::Find(const tree::Frame& frame) const {
  if (frame.kind != tree::FrameKind::kFunction) return nullptr;
  const auto place = by_name_.find(ParseFrame(frame.function).symbol);
  if (place == by_name_.end()) return nullptr;
  for (const CheckedApi* api : place->second) {
    if (frame.module.empty() || frame.module == tree::ModuleName(api->key.api.soname)) return api;
  }
  return nullptr;
}

CheckedTree Highlight(const analysis::TreeView& view, const analysis::CheckReport& report) {
  FIELDCOST_CHECK(!view.IsDifference());
  const FrameNames names(report);
  CheckedTree checked;
  checked.nodes.resize(view.nodes.size());
  std::set<const CheckedApi*> seen;
  std::vector<bool> inside_worse(view.nodes.size(), false);
  // Parents have lower numbers than their children.
  for (std::size_t i = 1; i < view.nodes.size(); ++i) {
    const analysis::ViewNode& node = view.nodes[i];
    checked.nodes[i].flagged = names.Find(view.frame(node));
    inside_worse[i] = inside_worse[node.parent];
    const CheckedApi* api = checked.nodes[i].flagged;
    if (api == nullptr) continue;
    seen.insert(api);
    if (!inside_worse[i]) checked.flagged_total += node.inclusive.after;
    inside_worse[i] = true;
  }
  checked.worse_seen = seen.size();
  for (std::size_t i = view.nodes.size(); i-- > 1;) {
    CheckedTree::Node& node = checked.nodes[i];
    node.leads_to_flagged = node.leads_to_flagged || node.flagged != nullptr;
    if (node.leads_to_flagged) checked.nodes[view.nodes[i].parent].leads_to_flagged = true;
  }
  return checked;
}

std::string FlaggedSentence(const CheckedTree& checked, std::size_t worse, std::string_view share) {
  if (worse == 0) return "No API is worse than the field";
  if (checked.worse_seen == 0) {
    return Counted(worse, "API is", "APIs are") + " worse than the field, none in this profile";
  }
  return fmt::format("{} of {} worse than the field {} in this profile, with {} of it",
                     checked.worse_seen, Counted(worse, "API that is", "APIs that are"),
                     checked.worse_seen == 1 ? "is" : "are", share);
}

std::string CheckedTreeText(const analysis::TreeView& view, const analysis::CheckReport& report,
                            const draw::Style& style) {
  const CheckedTree checked = Highlight(view, report);
  std::vector<std::string> marks(view.nodes.size());
  TreeTextOptions options;
  options.kept.resize(view.nodes.size());
  for (std::size_t i = 0; i < view.nodes.size(); ++i) {
    const CheckedTree::Node& node = checked.nodes[i];
    if (node.flagged != nullptr) marks[i] = MarkOf(*node.flagged);
    options.kept[i] = node.leads_to_flagged;
  }
  const stats::Uint128 all = view.nodes[0].inclusive.after;
  return TreeText(view, marks, options, style) +
         fmt::format(
             "{} in all. {}{}\n",
             CostText(static_cast<stats::Int128>(all), view.denominator, view.metric.unit, style),
             FlaggedSentence(checked, report.Count(Verdict::kMore),
                             draw::ShareText(checked.flagged_total, all)),
             checked.worse_seen == 0 ? "" : " (!)");
}

std::string UnseenText(const analysis::TreeView& view, const analysis::CheckReport& report) {
  std::set<const CheckedApi*> seen;
  for (const CheckedTree::Node& node : Highlight(view, report).nodes) seen.insert(node.flagged);
  std::set<std::string> unseen;
  for (const CheckedApi& api : report.apis) {
    if (IsFlagged(api) && !seen.contains(&api)) unseen.insert(names::ShownName(api.key.api));
  }
  if (unseen.empty()) return "";
  return fmt::format(
      "On no sampled stack: {} (its calls are too short, or it ends by calling another function)\n",
      ListText(std::vector(unseen.begin(), unseen.end()), unseen.size()));
}

}  // namespace fieldcost::report

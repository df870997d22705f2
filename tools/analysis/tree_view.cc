#include "tools/analysis/tree_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"

namespace fieldcost::analysis {
namespace {

using tree::FrameId;
using tree::MeanTree;
using tree::PathId;

constexpr std::size_t kBuildIdDigits = 8;  // digits shown

ViewValue ViewValueOf(const tree::Sides& sides) {
  return {.before = sides.before.sum, .after = sides.after.sum};
}

void Add(const ViewValue& value, ViewValue& sum) {
  sum.before += value.before;
  sum.after += value.after;
}

// Nodes in the order of creation: parents first, siblings in no particular order.
class Draft {
 public:
  explicit Draft(const MeanTree& tree, std::size_t metric)
      : view_{.dictionary = tree.dictionary,
              .metric = tree.metrics[metric],
              .denominator = tree.denominator,
              .runs_before = tree.runs_before,
              .runs_after = tree.runs_after,
              .nodes = {}} {
    view_.nodes.emplace_back();
  }

  ViewNode& node(std::size_t index) { return view_.nodes[index]; }

  std::uint32_t Append(std::uint32_t parent, FrameId frame) {
    view_.nodes.push_back({.parent = parent, .depth = node(parent).depth + 1, .frame = frame});
    return static_cast<std::uint32_t>(view_.nodes.size() - 1);
  }
  std::size_t size() const { return view_.nodes.size(); }

  TreeView Finish() && {
    std::vector<std::uint32_t> order(view_.nodes.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin() + 1, order.end(),
              [this](std::uint32_t a, std::uint32_t b) { return IsBefore(a, b); });
    // The children of a node are now adjacent; a walk makes the order depth first.
    std::vector<std::uint32_t> first(view_.nodes.size() + 1, 0);
    for (const ViewNode& one : view_.nodes) ++first[one.parent + 1];
    --first[1];  // the root is not its own child
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<ViewNode> sorted;
    sorted.reserve(view_.nodes.size());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open = {{0, 0}};  // node, new parent
    while (!open.empty()) {
      const auto [index, parent] = open.back();
      open.pop_back();
      const auto place = static_cast<std::uint32_t>(sorted.size());
      sorted.push_back(view_.nodes[index]);
      sorted.back().parent = parent;
      for (std::uint32_t i = first[index + 1]; i-- > first[index];) {
        open.emplace_back(order[i + 1], place);
      }
    }
    view_.nodes = std::move(sorted);
    return std::move(view_);
  }

 private:
  bool IsBefore(std::uint32_t a, std::uint32_t b) const {
    const ViewNode& one = view_.nodes[a];
    const ViewNode& other = view_.nodes[b];
    if (one.parent != other.parent) return one.parent < other.parent;
    const stats::Uint128 value = one.inclusive.Greater();
    const stats::Uint128 other_value = other.inclusive.Greater();
    if (value != other_value) return value > other_value;
    return view_.frame(one) < view_.frame(other);
  }

  TreeView view_;
};

// Adds the cost of `path` to its frame's node below the root and to the nodes of its callers below
// that, starting with the direct caller.
Status AddCallers(const MeanTree& tree, PathId path, const ViewValue& value, std::uint8_t where,
                  tree::PathTable& inverted, Draft& draft) {
  PathId node = tree::kRootPath;
  Add(value, draft.node(0).inclusive);
  draft.node(0).where |= where;
  const tree::PathTable& paths = tree.paths();
  for (PathId at = path; at != tree::kRootPath; at = paths.parent(at)) {
    const std::uint32_t parent = node.value();
    FIELDCOST_ASSIGN(node, inverted.Intern(node, paths.frame(at)));
    if (node.value() == draft.size()) draft.Append(parent, paths.frame(at));
    ViewNode& one = draft.node(node.value());
    Add(value, one.inclusive);
    one.where |= where;
    if (paths.parent(at) == tree::kRootPath) Add(value, one.self);
  }
  return {};
}

bool IsNamed(const tree::Frame& frame, std::string_view glob) {
  const std::size_t mark = glob.find('!');
  if (mark == std::string_view::npos) return GlobMatch(glob, frame.function);
  return GlobMatch(glob.substr(0, mark), frame.module) &&
         GlobMatch(glob.substr(mark + 1), frame.function);
}

// [frame id]
std::vector<bool> NamedFrames(const tree::FrameTable& frames, std::string_view glob) {
  std::vector<bool> is_meant(frames.size());
  for (std::uint32_t i = 0; i < frames.size(); ++i) {
    is_meant[i] = IsNamed(frames.frame(FrameId{i}), glob);
  }
  return is_meant;
}

Error NoSuchFunction(std::string_view glob) {
  return Fail(ErrorCode::kNotFound, "no function is called {}", EscapeControl(glob));
}

// Adds a path to the functions that have called it, for CalleesOf().
class CalleesDraft {
 public:
  CalleesDraft(const MeanTree& tree, std::size_t metric, std::vector<bool> is_meant)
      : tree_(tree),
        values_(tree.values[metric]),
        is_meant_(std::move(is_meant)),
        draft_(tree, metric) {}

  void Add(PathId path) {
    const tree::PathTable& paths = tree_.paths();
    frames_.clear();
    callers_.clear();
    for (PathId at = path; at != tree::kRootPath; at = paths.parent(at)) {
      if (is_meant_[paths.frame(at).value()]) callers_[paths.frame(at).value()] = frames_.size();
      frames_.push_back(paths.frame(at));
    }
    for (const auto& [caller, outermost] : callers_) AddBelow(FrameId{caller}, outermost, path);
    // No other matching function is above it.
    const bool is_first = callers_.size() == 1 && callers_.begin()->second == 0;
    if (is_first)
      analysis::Add(ViewValueOf(values_.inclusive[path.value()]), draft_.node(0).inclusive);
  }
  bool is_empty() const { return draft_.size() == 1; }
  TreeView Finish() && { return std::move(draft_).Finish(); }

 private:
  // The node of a function below another one.
  std::uint32_t PlaceOf(std::uint32_t above, FrameId frame) {
    const auto [at, is_new] = places_.try_emplace(std::uint64_t{above} << 32 | frame.value(), 0);
    if (is_new) at->second = draft_.Append(above, frame);
    return at->second;
  }
  // `outermost`: how far the caller's outermost call is above the end of the path.
  void AddBelow(FrameId caller, std::size_t outermost, PathId path) {
    const std::uint32_t above = PlaceOf(0, caller);
    const FrameId frame = frames_[0];
    ViewNode& node = draft_.node(frame == caller ? above : PlaceOf(above, frame));
    node.where |= tree_.where[path.value()];
    analysis::Add(ViewValueOf(values_.self[path.value()]), node.self);
    const auto below = frames_.begin() + static_cast<std::ptrdiff_t>(outermost);
    const bool is_inner = outermost != 0 && (frame == caller ||
                                             std::find(frames_.begin() + 1, below, frame) != below);
    if (!is_inner) analysis::Add(ViewValueOf(values_.inclusive[path.value()]), node.inclusive);
  }

  const MeanTree& tree_;
  const tree::MetricSides& values_;
  std::vector<bool> is_meant_;
  Draft draft_;
  std::unordered_map<std::uint64_t, std::uint32_t> places_;
  std::vector<FrameId> frames_;                   // of the path, the innermost first
  std::map<std::uint32_t, std::size_t> callers_;  // frame id -> where in `frames_`, the outermost
};

// Whether an ancestor of the path ends with the same frame.
bool IsInner(const tree::PathTable& paths, PathId path) {
  const FrameId frame = paths.frame(path);
  for (PathId at = paths.parent(path); at != tree::kRootPath; at = paths.parent(at)) {
    if (paths.frame(at) == frame) return true;
  }
  return false;
}

}  // namespace

TreeView TopDown(const MeanTree& tree, std::size_t metric) {
  FIELDCOST_CHECK(metric < tree.metrics.size());
  const tree::MetricSides& values = tree.values[metric];
  const tree::PathTable& paths = tree.paths();
  Draft draft(tree, metric);
  std::vector<std::uint32_t> place(paths.size());
  for (std::uint32_t i = 0; i < paths.size(); ++i) {
    if (i != 0 && tree.where[i] == 0) continue;
    if (i != 0) place[i] = draft.Append(place[paths.parents()[i]], paths.frame(PathId{i}));
    ViewNode& node = draft.node(place[i]);
    node.where = tree.where[i];
    node.self = ViewValueOf(values.self[i]);
    node.inclusive = ViewValueOf(values.inclusive[i]);
  }
  return std::move(draft).Finish();
}

Result<TreeView> BottomUp(const MeanTree& tree, std::size_t metric) {
  FIELDCOST_CHECK(metric < tree.metrics.size());
  Draft draft(tree, metric);
  tree::PathTable inverted;
  for (std::uint32_t i = 1; i < tree.paths().size(); ++i) {
    const ViewValue value = ViewValueOf(tree.values[metric].self[i]);
    if (value == ViewValue{}) continue;
    FIELDCOST_TRY(AddCallers(tree, PathId{i}, value, tree.where[i], inverted, draft));
  }
  return std::move(draft).Finish();
}

Result<TreeView> CallersOf(const MeanTree& tree, std::size_t metric, std::string_view function) {
  FIELDCOST_CHECK(metric < tree.metrics.size());
  const tree::PathTable& paths = tree.paths();
  const std::vector<bool> is_meant = NamedFrames(tree.dictionary->frames, function);
  Draft draft(tree, metric);
  tree::PathTable inverted;
  bool found = false;
  for (std::uint32_t i = 1; i < paths.size(); ++i) {
    const PathId path{i};
    if (tree.where[i] == 0 || !is_meant[paths.frame(path).value()] || IsInner(paths, path)) {
      continue;
    }
    found = true;
    FIELDCOST_TRY(AddCallers(tree, path, ViewValueOf(tree.values[metric].inclusive[i]),
                             tree.where[i], inverted, draft));
  }
  if (!found) return NoSuchFunction(function);
  return std::move(draft).Finish();
}

Result<TreeView> CalleesOf(const MeanTree& tree, std::size_t metric, std::string_view function) {
  FIELDCOST_CHECK(metric < tree.metrics.size());
  const tree::PathTable& paths = tree.paths();
  const std::vector<bool> is_meant = NamedFrames(tree.dictionary->frames, function);
  std::vector<bool> is_below(paths.size());  // ends with or after a function that matches
  CalleesDraft draft(tree, metric, is_meant);
  for (std::uint32_t i = 1; i < paths.size(); ++i) {
    const PathId path{i};
    is_below[i] = is_below[paths.parent(path).value()] || is_meant[paths.frame(path).value()];
    if (is_below[i] && tree.where[i] != 0) draft.Add(path);
  }
  if (draft.is_empty()) return NoSuchFunction(function);
  return std::move(draft).Finish();
}

TreeView Flat(const MeanTree& tree, std::size_t metric) {
  FIELDCOST_CHECK(metric < tree.metrics.size());
  const tree::MetricSides& values = tree.values[metric];
  const tree::PathTable& paths = tree.paths();
  Draft draft(tree, metric);
  draft.node(0).inclusive = ViewValueOf(values.inclusive[0]);
  draft.node(0).where = tree.where[0];
  std::vector<std::uint32_t> place(tree.dictionary->frames.size());  // 0: none yet
  for (std::uint32_t i = 1; i < paths.size(); ++i) {
    if (tree.where[i] == 0) continue;
    const FrameId frame = paths.frame(PathId{i});
    std::uint32_t& at = place[frame.value()];
    if (at == 0) at = draft.Append(0, frame);
    ViewNode& node = draft.node(at);
    node.where |= tree.where[i];
    Add(ViewValueOf(values.self[i]), node.self);
    if (!IsInner(paths, PathId{i})) Add(ViewValueOf(values.inclusive[i]), node.inclusive);
  }
  return std::move(draft).Finish();
}

TreeView FlatByFirst(const MeanTree& tree, std::size_t metric) {
  FIELDCOST_CHECK(metric < tree.metrics.size());
  const tree::MetricSides& values = tree.values[metric];
  const tree::PathTable& paths = tree.paths();
  Draft draft(tree, metric);
  draft.node(0).self = ViewValueOf(values.self[0]);
  draft.node(0).inclusive = ViewValueOf(values.inclusive[0]);
  draft.node(0).where = tree.where[0];
  std::vector<std::uint32_t> first(paths.size());  // node of the first frame of each path
  std::unordered_map<std::uint64_t, std::uint32_t> places;
  for (std::uint32_t i = 1; i < paths.size(); ++i) {
    if (tree.where[i] == 0) continue;
    const PathId parent = paths.parent(PathId{i});
    const bool is_first = parent == tree::kRootPath;
    const FrameId frame = paths.frame(PathId{i});
    const std::uint32_t above = is_first ? 0 : first[parent.value()];
    const std::uint64_t key = std::uint64_t{above} << 32 | frame.value();
    const auto [at, is_new] = places.try_emplace(key, 0);
    if (is_new) at->second = draft.Append(above, frame);
    first[i] = is_first ? at->second : above;
    ViewNode& node = draft.node(at->second);
    node.where |= tree.where[i];
    Add(ViewValueOf(values.self[i]), node.self);
    if (!IsInner(paths, PathId{i})) Add(ViewValueOf(values.inclusive[i]), node.inclusive);
  }
  return std::move(draft).Finish();
}

std::string NameOf(const tree::Frame& frame) {
  if (frame.kind == tree::FrameKind::kSpecial) return frame.function;
  if (frame.kind == tree::FrameKind::kUnnamed) {
    const std::string digits = HexEncode(frame.build_id).substr(0, kBuildIdDigits);
    return fmt::format("{}+{:#x}{}", frame.module, frame.offset,
                       digits.empty() ? "" : " [" + digits + "]");
  }
  const std::string file = frame.file.empty() ? "" : " (" + frame.file + ")";
  return frame.module.empty() ? frame.function + file : frame.module + "!" + frame.function + file;
}

}  // namespace fieldcost::analysis

#include "tools/exchange/export_view.h"

#include <algorithm>

#include "common/stats/uint128.h"
#include "tools/exchange/frame_text.h"

namespace fieldcost::exchange {

// The group of the last node. The groups of its callers are already set.
std::uint32_t ExportView::GroupOf(const Node& node,
                                  const std::vector<recording::ThreadFrame>& threads) {
  if (node.parent != 0 || threads.empty()) return nodes_[node.parent].group;
  const tree::Frame& frame = *frames_[node.frame];
  if (frame.kind != tree::FrameKind::kSpecial) return 0;
  const auto thread = std::ranges::find(threads, frame.function, &recording::ThreadFrame::label);
  if (thread == threads.end()) return 0;
  groups_.push_back({static_cast<std::uint32_t>(nodes_.size() - 1), *thread, {}});
  return static_cast<std::uint32_t>(groups_.size() - 1);
}

ExportView::ExportView(const tree::Tree& tree, const std::vector<recording::ThreadFrame>& threads)
    : tree_(tree), groups_(1), is_divided_(!threads.empty()) {
  const tree::PathTable& paths = tree.paths();
  std::vector<bool> kept(paths.size());
  kept[0] = true;
  for (std::size_t path = paths.size(); path-- > 1;) {
    for (const tree::MetricSpreads& spreads : tree.values) {
      if (spreads.self[path].sum != 0) kept[path] = true;
    }
    if (kept[path]) kept[paths.parents()[path]] = true;
  }
  constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> node_of(paths.size());
  std::vector<std::uint32_t> frame_of(tree.dictionary->frames.size(), kNone);
  for (const tree::PathId path : tree::CanonicalOrder(*tree.dictionary, kept)) {
    node_of[path.value()] = static_cast<std::uint32_t>(nodes_.size());
    if (path == tree::kRootPath) {
      nodes_.push_back({0, 0, path, 0});
      continue;
    }
    std::uint32_t& frame = frame_of[paths.frame(path).value()];
    if (frame == kNone) {
      frame = static_cast<std::uint32_t>(frames_.size());
      frames_.push_back(&tree.dictionary->frame(path));
    }
    nodes_.push_back({node_of[paths.parent(path).value()], frame, path, 0});
    nodes_.back().group = GroupOf(nodes_.back(), threads);
  }
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    groups_[nodes_[node].group].nodes.push_back(node);
  }
  const bool has_root = std::ranges::any_of(
      tree.values, [](const tree::MetricSpreads& spreads) { return spreads.self[0].sum != 0; });
  if (groups_.size() > 1 && groups_[0].nodes.size() == 1 && !has_root) first_group_ = 1;
}

std::string ExportView::PathText(std::size_t node) const {
  constexpr std::size_t kMostBytes = 200;
  std::string text;
  for (; node != 0 && text.size() < kMostBytes; node = nodes_[node].parent) {
    if (!text.empty()) text.insert(0, 1, ';');
    text.insert(0, FrameText(*frames_[nodes_[node].frame]));
  }
  return node == 0 ? text : "...;" + text;
}

Result<std::vector<std::uint64_t>> ExportView::SelfSums(std::size_t metric,
                                                        std::uint64_t most) const {
  std::vector<std::uint64_t> sums;
  sums.reserve(nodes_.size());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const stats::Uint128 sum = tree_.values[metric].self[nodes_[i].path.value()].sum;
    if (sum > most) {
      return Fail(ErrorCode::kTooLarge, "the {} of {} exceed {}, the most that the format holds",
                  metrics()[metric].name, PathText(i), most);
    }
    sums.push_back(static_cast<std::uint64_t>(sum));
  }
  return sums;
}

Result<std::vector<std::uint64_t>> ExportView::InclusiveSums(std::size_t metric,
                                                             const std::vector<std::uint64_t>& self,
                                                             std::uint64_t most) const {
  std::vector<std::uint64_t> sums = self;
  for (std::size_t i = nodes_.size(); i-- > 1;) {
    std::uint64_t& parent = sums[nodes_[i].parent];
    if (__builtin_add_overflow(parent, sums[i], &parent) || parent > most) {
      return Fail(ErrorCode::kTooLarge, "the {} of {} and what it calls exceed {}",
                  metrics()[metric].name, PathText(nodes_[i].parent), most);
    }
  }
  return sums;
}

}  // namespace fieldcost::exchange

#include "tools/analysis/stack_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "common/base/text.h"

namespace fieldcost::analysis {

Result<std::uint32_t> StackTree::NameIndex(std::string_view name) {
  if (const auto place = name_places_.find(name); place != name_places_.end()) return place->second;
  name_bytes_ += name.size();
  if (name_bytes_ > kMaxTreeNameBytes) {
    return Fail(ErrorCode::kTooLarge, "names of more than {} bytes", kMaxTreeNameBytes);
  }
  const auto index = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  name_places_.emplace(name, index);
  return index;
}

Status StackTree::Add(std::span<const std::string_view> untrusted_frames, std::uint64_t value) {
  if (untrusted_frames.size() > kMaxFoldedFrames) {
    return Fail(ErrorCode::kTooLarge, "a stack of more than {} functions", kMaxFoldedFrames);
  }
  if (__builtin_add_overflow(nodes_[0].total, value, &nodes_[0].total)) {
    return Fail(ErrorCode::kTooLarge, "values of more than 2^64 - 1 together");
  }
  std::uint32_t node = 0;
  for (const std::string_view frame : untrusted_frames) {
    FIELDCOST_ASSIGN(const std::uint32_t name, NameIndex(frame));
    const auto next = static_cast<std::uint32_t>(nodes_.size());
    const auto [place, is_new] = places_.try_emplace(std::uint64_t{node} << 32 | name, next);
    if (is_new) {
      if (nodes_.size() >= kMaxTreeNodes) {
        return Fail(ErrorCode::kTooLarge, "a call tree of more than {} functions", kMaxTreeNodes);
      }
      nodes_.push_back({.parent = node, .name = name, .children = {}});
      nodes_[node].children.push_back(next);
    }
    node = place->second;
    nodes_[node].total += value;  // at most the root's
  }
  nodes_[node].self += value;
  return {};
}

Status AddFoldedStacks(std::string_view untrusted_text, StackTree& tree) {
  if (untrusted_text.size() > kMaxFoldedBytes) {
    return Fail(ErrorCode::kTooLarge, "{} bytes of folded stacks, at most {} are accepted",
                untrusted_text.size(), kMaxFoldedBytes);
  }
  std::vector<std::string_view> frames;
  for (std::size_t number = 1; !untrusted_text.empty(); ++number) {
    const std::size_t end = std::min(untrusted_text.find('\n'), untrusted_text.size());
    std::string_view line = untrusted_text.substr(0, end);
    untrusted_text.remove_prefix(std::min(end + 1, untrusted_text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::size_t space = line.rfind(' ');
    const auto value =
        space == std::string_view::npos ? std::nullopt : ParseUint64(line.substr(space + 1));
    if (!value || space == 0) {
      return Fail(ErrorCode::kCorrupt, "line {} is no folded stack (\"a;b;c 12\")", number);
    }
    std::string_view stack = line.substr(0, space);
    frames.clear();
    for (std::size_t mark = 0;
         mark != std::string_view::npos && frames.size() <= kMaxFoldedFrames;) {
      mark = stack.find(';');
      frames.push_back(stack.substr(0, mark));
      if (mark != std::string_view::npos) stack.remove_prefix(mark + 1);
    }
    if (const Status added = tree.Add(frames, *value); !added) {
      return Within(added.error(), fmt::format("line {}", number));
    }
  }
  return {};
}

}  // namespace fieldcost::analysis

#include "tools/exchange/tree_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.h"
#include "common/tree/tree_limits.h"
#include "tools/exchange/frame_text.h"

namespace fieldcost::exchange {

TreeBuilder::TreeBuilder() : dictionary_(std::make_shared<tree::Dictionary>()) {}

Result<tree::FrameId> TreeBuilder::AddFrame(const tree::Frame& untrusted_frame) {
  return dictionary_->frames.Intern(untrusted_frame);
}

Result<tree::FrameId> TreeBuilder::AddFrameText(std::string_view untrusted_text) {
  std::string text(untrusted_text);
  if (const auto known = texts_.find(text); known != texts_.end()) return known->second;
  FIELDCOST_ASSIGN(const tree::FrameId frame, AddFrame(FrameOfText(text)));
  text_bytes_ += text.size();
  if (text_bytes_ > tree::kMaxAllNameBytes) {
    return Fail(ErrorCode::kTooLarge, "names of frames have more than {} bytes",
                tree::kMaxAllNameBytes);
  }
  texts_.emplace(std::move(text), frame);
  return frame;
}

Result<tree::PathId> TreeBuilder::AddPath(tree::PathId parent, tree::FrameId frame) {
  if (dictionary_->paths.depth(parent) < tree::kMaxDepth) {
    return dictionary_->paths.Intern(parent, frame);
  }
  return AddDeeper(parent, 1);
}

Result<tree::PathId> TreeBuilder::AddDeeper(tree::PathId parent, std::uint64_t frames) {
  deeper_ += frames;
  FIELDCOST_ASSIGN(const tree::FrameId other, AddFrame(tree::SpecialFrame(tree::kOther)));
  const tree::PathTable& paths = dictionary_->paths;
  if (paths.depth(parent) < tree::kMaxDepth) return dictionary_->paths.Intern(parent, other);
  if (paths.frame(parent) == other) return parent;
  return dictionary_->paths.Intern(paths.parent(parent), other);
}

Result<std::size_t> TreeBuilder::AddMetric(tree::Metric untrusted_metric) {
  const auto known = std::find_if(metrics_.begin(), metrics_.end(), [&](const auto& metric) {
    return metric.name == untrusted_metric.name && metric.unit == untrusted_metric.unit;
  });
  if (known != metrics_.end()) return static_cast<std::size_t>(known - metrics_.begin());
  return AddOtherMetric(std::move(untrusted_metric));
}

Result<std::size_t> TreeBuilder::AddOtherMetric(tree::Metric untrusted_metric) {
  if (metrics_.size() == tree::kMaxMetrics) {
    return Fail(ErrorCode::kTooLarge, "there are more than {} metrics", tree::kMaxMetrics);
  }
  const std::string name = untrusted_metric.name;
  for (std::size_t number = 2; tree::FindMetric(metrics_, untrusted_metric.name); ++number) {
    const std::string suffix = fmt::format("-{}", number);
    untrusted_metric.name = name.substr(0, tree::kMaxMetricNameBytes - suffix.size()) + suffix;
  }
  FIELDCOST_TRY(tree::Validate(untrusted_metric));
  metrics_.push_back(std::move(untrusted_metric));
  values_.emplace_back();
  samples_.push_back(0);
  sums_.push_back(0);
  return metrics_.size() - 1;
}

Status TreeBuilder::AddSample(std::size_t metric, tree::PathId path, std::uint64_t amount) {
  FIELDCOST_TRY(Add(metric, path, amount));
  ++samples_[metric];
  if (!__builtin_add_overflow(sums_[metric], amount, &sums_[metric])) return {};
  return Fail(ErrorCode::kTooLarge, "the values of {} exceed 2^64 - 1 together",
              metrics_[metric].name);
}

Status TreeBuilder::Add(std::size_t metric, tree::PathId path, std::uint64_t amount) {
  std::vector<std::uint64_t>& values = values_[metric];
  if (values.size() <= path.value()) values.resize(dictionary_->paths.size());
  std::uint64_t& value = values[path.value()];
  if (!__builtin_add_overflow(value, amount, &value)) return {};
  return Fail(ErrorCode::kTooLarge, "the values of {} at one call path exceed 2^64 - 1",
              metrics_[metric].name);
}

void TreeBuilder::SetPeriods() {
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    if (samples_[i] == 0) continue;
    metrics_[i].per_sample = std::max<std::uint64_t>(sums_[i] / samples_[i], 1);
  }
}

Result<tree::Tree> TreeBuilder::Build() {
  SetPeriods();
  const std::size_t paths = dictionary_->paths.size();
  std::vector<tree::RunValues> run;
  run.emplace_back(metrics_.size(), std::size_t{0});
  for (std::size_t i = 0; i < metrics_.size(); ++i) {
    std::copy(values_[i].begin(), values_[i].end(), run[0].MutableColumn(i, paths).begin());
    values_[i] = {};
  }
  return tree::TreeOf(dictionary_, std::move(metrics_), run);
}

Result<Built> TreeBuilder::BuildTimed(Remarks& remarks) {
  FIELDCOST_CHECK(!std::exchange(is_built_, true));
  remarks.Count(fmt::format("frames of stacks deeper than {}, the innermost ones, as [other]",
                            tree::kMaxDepth),
                deeper_);
  SetPeriods();
  std::optional<std::string> recording = std::move(timed_).Record(*dictionary_, metrics_, remarks);
  FIELDCOST_ASSIGN(tree::Tree tree, Build());
  return Built{.tree = std::move(tree), .recording = std::move(recording)};
}

std::vector<std::string> Remarks::Lines() const {
  std::vector<std::string> lines = texts_;
  for (const auto& [what, count] : counts_) {
    if (count != 0) lines.push_back(fmt::format("{}: {}", what, count));
  }
  return lines;
}

}  // namespace fieldcost::exchange

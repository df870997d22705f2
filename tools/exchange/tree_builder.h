#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/result.h"
#include "common/tree/tree.h"
#include "tools/exchange/timed_samples.h"

namespace fieldcost::exchange {

// The result of an importer.
struct Built {
  tree::Tree tree;                            // of one run
  std::optional<std::string> recording = {};  // the same with times and threads, if it has any
};

// Builds the tree of one run for an importer. Errors are those of common/tree: kTooLarge beyond its
// limits. Not thread-safe.
class TreeBuilder {
 public:
  TreeBuilder();

  Result<tree::FrameId> AddFrame(const tree::Frame& untrusted_frame);
  // Adds the frame of a text as written by FrameText(); parses each distinct text once.
  Result<tree::FrameId> AddFrameText(std::string_view untrusted_text);
  // The path that extends `parent` by `frame`. Beyond tree::kMaxDepth frames, the path's last frame
  // becomes [other], which represents all deeper ones; BuildTimed() reports their number.
  Result<tree::PathId> AddPath(tree::PathId parent, tree::FrameId frame);
  // Appends [other], which represents this many deeper frames with unknown names.
  Result<tree::PathId> AddDeeper(tree::PathId parent, std::uint64_t frames);
  // Returns the existing metric with the same name and unit. If the unit differs, the name gets a
  // number.
  Result<std::size_t> AddMetric(tree::Metric untrusted_metric);
  // Always adds a new metric, even if the name exists.
  Result<std::size_t> AddOtherMetric(tree::Metric untrusted_metric);
  // Counts samples; their mean weight becomes the metric's `per_sample`.
  Status AddSample(std::size_t metric, tree::PathId path, std::uint64_t amount);
  Status Add(std::size_t metric, tree::PathId path, std::uint64_t amount);
  std::size_t metrics() const { return metrics_.size(); }
  // Must receive the same data as the tree, with times and threads.
  TimedSamples& timed() { return timed_; }

  // The tree, and a recording of the data added to timed(), if any. REQUIRES: called once; nothing
  // is added afterwards.
  Result<Built> BuildTimed(Remarks& remarks);

 private:
  Result<tree::Tree> Build();
  void SetPeriods();

  std::shared_ptr<tree::Dictionary> dictionary_;
  std::unordered_map<std::string, tree::FrameId> texts_;
  std::size_t text_bytes_ = 0;
  std::vector<tree::Metric> metrics_;
  std::vector<std::vector<std::uint64_t>> values_;  // [metric][path id]
  std::vector<std::uint64_t> samples_;              // [metric]
  std::vector<std::uint64_t> sums_;                 // [metric], of samples
  std::uint64_t deeper_ = 0;                        // number of omitted frames
  TimedSamples timed_;
  bool is_built_ = false;
};

// Counts omitted or reinterpreted data; reports one human-readable line with a count per kind.
class Remarks {
 public:
  // "{what}: {count}", if there are any.
  void Count(const std::string& what, std::uint64_t count = 1) { counts_[what] += count; }
  void Say(std::string text) { texts_.push_back(std::move(text)); }
  std::vector<std::string> Lines() const;

 private:
  std::map<std::string, std::uint64_t> counts_;
  std::vector<std::string> texts_;
};

}  // namespace fieldcost::exchange

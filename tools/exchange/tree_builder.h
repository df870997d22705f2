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

// What an importer makes.
struct Built {
  tree::Tree tree;                            // of one run
  std::optional<std::string> recording = {};  // the same with times and threads, if it has any
};

// What an importer puts together: a tree of one run. Errors are those of common/tree: kTooLarge
// beyond its limits. Not thread-safe.
class TreeBuilder {
 public:
  TreeBuilder();

  Result<tree::FrameId> AddFrame(const tree::Frame& untrusted_frame);
  // Adds the frame of a text as FrameText() writes it; each different text is parsed once.
  Result<tree::FrameId> AddFrameText(std::string_view untrusted_text);
  // The path that goes on from `parent` to `frame`. Beyond tree::kMaxDepth frames, the last frame
  // of the path becomes [other], which stands for all deeper ones; BuildTimed() reports how many.
  Result<tree::PathId> AddPath(tree::PathId parent, tree::FrameId frame);
  // Appends [other], which stands for this many deeper frames whose names are unknown.
  Result<tree::PathId> AddDeeper(tree::PathId parent, std::uint64_t frames);
  // The same again for one of the same name and unit. With another unit, the name gets a number.
  Result<std::size_t> AddMetric(tree::Metric untrusted_metric);
  // A metric of its own, whatever others are called.
  Result<std::size_t> AddOtherMetric(tree::Metric untrusted_metric);
  // In samples; what they stand for in the mean becomes the metric's `per_sample`.
  Status AddSample(std::size_t metric, tree::PathId path, std::uint64_t amount);
  Status Add(std::size_t metric, tree::PathId path, std::uint64_t amount);
  std::size_t metrics() const { return metrics_.size(); }
  // Is to have what the tree has, by its time and thread.
  TimedSamples& timed() { return timed_; }

  // The tree, and a recording of what was added to timed(), if anything was. REQUIRES: once;
  // nothing is added after it.
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
  std::uint64_t deeper_ = 0;                        // frames left out
  TimedSamples timed_;
};

// What is left out, or taken for something else: lines for people, each with its number. A kind is
// told once.
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

#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/check.h"
#include "common/idle/idle_schema.h"
#include "common/idle/pair_path.h"
#include "common/recording/recording.h"

// Reads recordings of idle CPUs.
namespace fieldcost::idle::testing {

using Frames = std::vector<tree::Frame>;  // outermost first

inline bool Has(const Frames& frames, std::string_view function) {
  for (const tree::Frame& frame : frames) {
    if (frame.function.starts_with(function)) return true;
  }
  return false;
}

class RecordedIdle {
 public:
  explicit RecordedIdle(const std::filesystem::path& file) {
    auto opened = recording::Recording::Open(file);
    FIELDCOST_CHECK(opened.has_value());
    recording_.emplace(std::move(*opened));
  }

  const recording::Recording& recording() const { return *recording_; }

  // The self value of each path of a metric.
  using OnPath = std::function<void(const Frames& frames, std::uint64_t value)>;
  void ForEach(std::string_view metric, const OnPath& on_path) const {
    const auto values = recording_->Values({});
    FIELDCOST_CHECK(values.has_value());
    const auto& metrics = recording_->contents().descriptions.metrics;
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      if (metrics[i].name != metric) continue;
      const auto column = values->column(i);
      for (std::uint32_t path = 0; path < column.size(); ++path) {
        if (column[path] != 0) on_path(FramesOf(tree::PathId{path}), column[path]);
      }
    }
  }
  // The sum over the paths that contain all these functions; over all paths if none is given.
  std::uint64_t Sum(std::string_view metric, const std::vector<std::string>& functions = {}) const {
    std::uint64_t sum = 0;
    ForEach(metric, [&](const Frames& frames, std::uint64_t value) {
      for (const std::string& function : functions) {
        if (!Has(frames, function)) return;
      }
      sum += value;
    });
    return sum;
  }
  std::uint64_t Count(std::string_view name) const {
    for (const recording::Count& count : recording_->contents().descriptions.counts) {
      if (count.name == name) return count.value;
    }
    return 0;
  }
  Frames FramesOf(tree::PathId path) const {
    const tree::Dictionary& dictionary = recording_->dictionary();
    Frames frames;
    for (; path != tree::kRootPath; path = dictionary.paths.parent(path))
      frames.insert(frames.begin(), dictionary.frame(path));
    return frames;
  }

 private:
  std::optional<recording::Recording> recording_;
};

}  // namespace fieldcost::idle::testing

#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "common/recording/recording.h"
#include "common/recording/recording_writer.h"
#include "common/tree/tree_dictionary.h"

namespace fieldcost::recording {

struct Sample {
  std::uint64_t time_ns = 0;
  std::uint32_t path = 0;
  std::vector<std::uint64_t> values;
};

// Builds a random tree: each new path is a child of a random one. The number of paths includes the
// root.
inline void GrowTo(std::size_t paths, std::mt19937_64& random, tree::Dictionary& dictionary) {
  while (dictionary.paths.size() < paths) {
    tree::Frame frame;
    frame.module = "lib" + std::to_string(random() % 10) + ".so";
    frame.function = "f" + std::to_string(random() % (paths / 2 + 1)) + "(int)";
    const auto id = dictionary.frames.Intern(frame).value();
    const tree::PathId parent(static_cast<std::uint32_t>(random() % dictionary.paths.size()));
    if (dictionary.paths.depth(parent) < 60) (void)dictionary.paths.Intern(parent, id).value();
  }
}

// A few paths have most of the samples: the i-th has about 1 / i of the first one's.
inline std::uint32_t SkewedPath(std::size_t paths, std::mt19937_64& random) {
  const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;
  const auto rank = std::pow(static_cast<double>(paths), uniform) - 1;
  // Independent of the order of ids.
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(rank) * 2654435761 % paths);
}

// The expected result, computed in the simplest way.
inline std::vector<std::uint64_t> Scan(const std::vector<Sample>& samples, std::size_t metric,
                                       Interval interval, std::size_t paths) {
  std::vector<std::uint64_t> sums(paths);
  for (const Sample& sample : samples) {
    if (sample.time_ns < interval.from_ns || sample.time_ns >= interval.to_ns) continue;
    sums[sample.path] += sample.values[metric];
  }
  return sums;
}

inline std::vector<std::uint64_t> Self(const Recording& recording, std::size_t metric,
                                       Interval interval, StreamId stream = StreamId(0)) {
  std::vector<std::uint64_t> out;
  const Status status = recording.SelfValues(stream, metric, interval, out);
  EXPECT_TRUE(status) << status.error().message;
  return out;
}

inline std::vector<Sample> SamplesIn(const Recording& recording, StreamId stream = StreamId(0)) {
  std::vector<Sample> samples;
  const Status status = recording.ForEachSample(
      stream, {}, [&](std::uint64_t time_ns, std::uint32_t path, auto values) {
        samples.push_back({time_ns, path, {values.begin(), values.end()}});
      });
  EXPECT_TRUE(status) << status.error().message;
  return samples;
}

inline std::vector<std::uint16_t> AddMetrics(std::size_t count, Writer& writer) {
  std::vector<std::uint16_t> metrics;
  for (std::size_t i = 0; i < count; ++i) {
    metrics.push_back(
        writer.AddMetric({.name = "metric" + std::to_string(i), .unit = tree::Unit::kCount})
            .value());
  }
  return metrics;
}

}  // namespace fieldcost::recording

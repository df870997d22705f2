#include "common/tree/run_values.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

Error TooMuch() { return Fail(ErrorCode::kTooLarge, "a run's value exceeds 64 bits"); }

}  // namespace

RunValues::RunValues(std::size_t metrics, std::size_t paths) {
  FIELDCOST_CHECK(metrics <= kMaxMetrics && paths <= kMaxPaths);
  columns_.assign(metrics, std::vector<std::uint64_t>(paths));
}

std::span<const std::uint64_t> RunValues::column(std::size_t metric) const {
  FIELDCOST_CHECK(metric < columns_.size());
  return columns_[metric];
}

std::uint64_t RunValues::value(std::size_t metric, PathId path) const {
  const std::span<const std::uint64_t> values = column(metric);
  return path.value() < values.size() ? values[path.value()] : 0;
}

std::span<std::uint64_t> RunValues::MutableColumn(std::size_t metric, std::size_t paths) {
  FIELDCOST_CHECK(metric < columns_.size() && paths <= kMaxPaths);
  std::vector<std::uint64_t>& values = columns_[metric];
  if (values.size() < paths) values.resize(paths);
  return values;
}

Status RunValues::Add(std::size_t metric, PathId path, std::uint64_t amount) {
  FIELDCOST_CHECK(metric < columns_.size() && path.value() < kMaxPaths);
  std::vector<std::uint64_t>& values = columns_[metric];
  if (path.value() >= values.size()) values.resize(path.value() + 1);
  if (__builtin_add_overflow(values[path.value()], amount, &values[path.value()])) {
    values[path.value()] -= amount;
    return TooMuch();
  }
  return {};
}

Status RunValues::Add(const RunValues& other) {
  FIELDCOST_CHECK(other.metrics() == metrics());
  for (std::size_t metric = 0; metric < metrics(); ++metric) {
    const std::span<const std::uint64_t> from = other.column(metric);
    const std::span<std::uint64_t> to = MutableColumn(metric, from.size());
    bool passed = false;
    for (std::size_t i = 0; i < from.size(); ++i) {
      passed |= __builtin_add_overflow(to[i], from[i], &to[i]);
    }
    if (passed) return TooMuch();
  }
  return {};
}

}  // namespace fieldcost::tree

#include "tools/report/lab/lab_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/text.h"
#include "common/names/cxx_name.h"

namespace fieldcost::report {
namespace {

using wire::LabStack;
using wire::LabTable;

// The mean time of a call of each API, in ns; negative = not timed.
std::vector<double> MeansOf(const LabTable& table) {
  std::vector<stats::CostHistogram> times(table.apis.size());
  auto next = table.rows.begin();  // both are ascending
  for (std::size_t i = 0; i < table.apis.size(); ++i) {
    for (; next != table.rows.end() && next->key.api == table.apis[i].api; ++next) {
      if (next->key.metric == stats::Metric::kWallTime) times[i].Merge(next->histogram);
    }
  }
  std::vector<double> means;
  for (const stats::CostHistogram& histogram : times) {
    means.push_back(histogram.empty() ? -1 : histogram.Mean());
  }
  return means;
}

// Returns for each node whether its API also occurs among its ancestors.
std::vector<bool> InnerOnes(const LabTable& table) {
  std::vector<bool> inner;
  std::vector<std::uint32_t> path;
  std::vector<std::uint32_t> on_path(table.apis.size());  // how often each API occurs
  for (const LabStack& node : table.stacks) {
    while (!path.empty() && path.back() != node.parent) {
      --on_path[table.stacks[path.back()].api];
      path.pop_back();
    }
    inner.push_back(on_path[node.api] != 0);
    ++on_path[node.api];
    path.push_back(static_cast<std::uint32_t>(inner.size() - 1));
  }
  return inner;
}

std::string NameOf(const stats::ApiKey& api) { return names::DemangledName(api.symbol); }

std::string FrameOf(const stats::ApiKey& api) {
  std::string frame = EscapeControl(fmt::format("{}!{}", api.soname, NameOf(api)));
  std::replace(frame.begin(), frame.end(), ';', ':');  // the separator of frames
  return frame;
}

std::uint64_t Rounded(double ns) { return static_cast<std::uint64_t>(std::llround(ns)); }

}  // namespace

std::vector<double> EstimatedSelfTimes(const LabTable& table) {
  const std::vector<double> means = MeansOf(table);
  const std::vector<bool> inner = InnerOnes(table);
  const std::size_t count = table.stacks.size();
  std::vector<double> whole(count);  // including everything below
  std::vector<double> below(count);
  // A node precedes everything below it.
  for (std::size_t i = count; i-- > 0;) {
    const LabStack& node = table.stacks[i];
    const bool is_known = !inner[i] && means[node.api] >= 0;
    whole[i] = is_known ? static_cast<double>(node.calls) * means[node.api] : below[i];
    if (node.parent != LabStack::kRoot) below[node.parent] += whole[i];
  }
  std::vector<double> share(count, 1);  // of its own claim, the share it receives
  std::vector<double> self(count);
  for (std::size_t i = 0; i < count; ++i) {
    const LabStack& node = table.stacks[i];
    if (node.parent != LabStack::kRoot) whole[i] *= share[node.parent];
    share[i] = below[i] > whole[i] && below[i] > 0 ? whole[i] / below[i] : 1;
    self[i] = std::max(0.0, whole[i] - below[i] * share[i]);
  }
  return self;
}

std::string LabFolded(const LabTable& table) {
  std::vector<std::string> names;
  for (const wire::LabApi& api : table.apis) names.push_back(FrameOf(api.api));
  const std::vector<double> self = EstimatedSelfTimes(table);
  std::string text;
  std::string stack;
  std::vector<std::size_t> lengths;  // of the text up to each node on the path
  std::vector<std::uint32_t> path;
  for (std::size_t i = 0; i < table.stacks.size(); ++i) {
    const LabStack& node = table.stacks[i];
    while (!path.empty() && path.back() != node.parent) {
      path.pop_back();
      lengths.pop_back();
    }
    stack.resize(lengths.empty() ? 0 : lengths.back());
    stack += (stack.empty() ? "" : ";") + names[node.api];
    path.push_back(static_cast<std::uint32_t>(i));
    lengths.push_back(stack.size());
    if (Rounded(self[i]) != 0) text += fmt::format("{} {}\n", stack, Rounded(self[i]));
  }
  return text;
}

exchange::PprofContent LabPprofContent(const LabTable& table) {
  exchange::PprofContent content{
      .types = {{"calls", "count"}, {"allocated", "bytes"}, {"time", "nanoseconds"}},
      .default_type = 2,
      .functions = {},
      .samples = {},
      .comments = {"time is estimated: calls by mean cost, less what the callees take; calls and "
                   "bytes are exact"}};
  for (const wire::LabPart& part : table.parts) content.comments.push_back(part.name);
  for (const wire::LabApi& api : table.apis) {
    content.functions.push_back({api.api.soname, NameOf(api.api)});
  }
  const std::vector<double> self = EstimatedSelfTimes(table);
  std::vector<std::uint32_t> path;    // nodes
  std::vector<std::uint32_t> frames;  // their APIs
  for (std::size_t i = 0; i < table.stacks.size(); ++i) {
    const LabStack& node = table.stacks[i];
    while (!path.empty() && path.back() != node.parent) {
      path.pop_back();
      frames.pop_back();
    }
    path.push_back(static_cast<std::uint32_t>(i));
    frames.push_back(node.api);
    if (node.calls == 0 && node.bytes == 0 && Rounded(self[i]) == 0) continue;
    content.samples.push_back({frames, {node.calls, node.bytes, Rounded(self[i])}});
  }
  return content;
}

Result<std::string> LabPprof(const LabTable& table) {
  return exchange::EncodePprof(LabPprofContent(table));
}

}  // namespace fieldcost::report

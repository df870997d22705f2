// Writes pprof profiles (EncodePprof): one sample type per metric, and our own data in
// comments.
#include <limits>

#include "common/base/text.h"
#include "common/wire/wire_limits.h"
#include "tools/exchange/exchange.h"
#include "tools/exchange/exchange_limits.h"
#include "tools/exchange/exporters.h"
#include "tools/exchange/frame_text.h"
#include "tools/exchange/pprof.h"
#include "tools/exchange/pprof_comment.h"

namespace fieldcost::exchange {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();

std::string PprofUnit(tree::Unit unit) {
  return unit == tree::Unit::kNanoseconds ? "nanoseconds" : std::string(tree::Name(unit));
}

// Without a module, only the name determines the kind of frame.
PprofFunction FunctionOf(const tree::Frame& frame) {
  const bool is_code = frame.kind == tree::FrameKind::kUnnamed;
  return {.module = NameText(frame.module),
          .name = is_code || !frame.module.empty() ? NameText(frame.function) : FrameText(frame),
          .file = NameText(frame.file),
          .build_id = HexEncode(frame.build_id),
          .address = frame.offset};
}

// The period of the main metric if it is sampled, otherwise of another metric.
void SetPeriod(PprofContent& content, const std::vector<tree::Metric>& metrics) {
  std::size_t sampled = content.default_type;
  for (std::size_t i = 0; i < metrics.size() && !metrics[sampled].sampled(); ++i) sampled = i;
  content.period = metrics[sampled].per_sample;
  if (content.period != 0) content.period_type = content.types[sampled];
}

// The threads of the groups, and each group's thread number; 0 for the group without a thread.
std::vector<std::uint32_t> AddThreads(const ExportView& view, PprofContent& content) {
  std::vector<std::uint32_t> numbers;
  if (view.is_divided()) content.comments.emplace_back(kThreadsComment);
  for (const ExportView::Group& group : view.groups()) {
    const recording::Thread& of = group.thread.thread;
    numbers.push_back(0);
    if (of == recording::Thread()) continue;
    content.threads.push_back(
        {.process = NameText(of.process), .name = NameText(of.name), .pid = of.pid, .tid = of.tid});
    numbers.back() = static_cast<std::uint32_t>(content.threads.size());
  }
  return numbers;
}

}  // namespace

Result<std::string> ExportPprof(const ExportView& view, const std::string& title) {
  const std::vector<tree::Metric>& metrics = view.metrics();
  PprofContent content{.types = {}, .functions = {}, .samples = {}, .comments = {}};
  if (!title.empty()) content.comments.push_back(NameText(title));
  std::vector<std::vector<std::uint64_t>> sums;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    content.types.push_back({metrics[i].name, PprofUnit(metrics[i].unit)});
    content.comments.push_back(std::string(kMetricComment) + MetricText(metrics[i]));
    FIELDCOST_ASSIGN(std::vector<std::uint64_t> self, view.SelfSums(i, kMost));
    sums.push_back(std::move(self));
  }
  content.default_type = MainMetric(metrics);
  SetPeriod(content, metrics);
  for (const tree::Frame* frame : view.frames()) content.functions.push_back(FunctionOf(*frame));
  const std::vector<std::uint32_t> threads = AddThreads(view, content);
  std::vector<std::uint32_t> stack;
  std::size_t frames = 0;  // of all stacks
  for (std::size_t node = 0; node < view.nodes().size(); ++node) {
    const ExportView::Node& place = view.nodes()[node];
    if (node != 0) {
      stack.resize(view.tree().paths().depth(place.path) - 1);
      stack.push_back(place.frame);
    }
    bool is_cost = false;
    std::vector<std::uint64_t> values;
    for (const std::vector<std::uint64_t>& self : sums) {
      values.push_back(self[node]);
      is_cost = is_cost || self[node] != 0;
    }
    if (!is_cost) continue;
    frames += stack.size();
    if (content.samples.size() == kMaxPprofEntries || frames > kMaxPprofDecodedBytes) {
      return Fail(ErrorCode::kTooLarge, "more than {} stacks, or {} frames of them",
                  kMaxPprofEntries, kMaxPprofDecodedBytes);
    }
    content.samples.push_back({stack, std::move(values), threads[place.group]});
  }
  return EncodePprof(content);
}

}  // namespace fieldcost::exchange

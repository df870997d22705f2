// Builds a tree from a pprof profile (DecodePprof), ours or another program's.
#include <fmt/format.h>

#include <algorithm>

#include "common/base/text.h"
#include "common/tree/tree_limits.h"
#include "tools/exchange/frame_text.h"
#include "tools/exchange/importers.h"
#include "tools/exchange/pprof.h"
#include "tools/exchange/pprof_comment.h"

namespace fieldcost::exchange {
namespace {

struct Column {
  std::size_t metric;
  std::uint64_t factor;
};

// Our comments on the sample types; empty if another program wrote the profile.
std::vector<tree::Metric> OwnMetrics(const PprofContent& content) {
  std::vector<tree::Metric> metrics;
  for (std::string_view comment : content.comments) {
    tree::Metric metric;
    if (!comment.starts_with(kMetricComment)) continue;
    comment.remove_prefix(kMetricComment.size());
    if (!TakeMetricText(comment, metric) || metrics.size() == content.types.size()) return {};
    const PprofValueType& type = content.types[metrics.size()];
    if (type.type != metric.name || UnitOf(type.unit).unit != metric.unit) return {};
    metrics.push_back(std::move(metric));
  }
  if (metrics.size() != content.types.size()) metrics.clear();
  return metrics;
}

Result<std::vector<Column>> OtherMetrics(const PprofContent& content, TreeBuilder& builder,
                                         Remarks& remarks) {
  std::vector<Column> columns;
  for (const PprofValueType& type : content.types) {
    const UnitScale scale = UnitOf(type.unit);
    tree::Metric metric = {.name = MetricName(type.type), .unit = scale.unit};
    if (content.period != 0) {
      metric.per_sample = 1;
      if (type.unit == content.period_type.unit &&
          __builtin_mul_overflow(content.period, scale.factor, &metric.per_sample)) {
        return Fail(ErrorCode::kTooLarge, "a period of {} {}", content.period, type.unit);
      }
    }
    FIELDCOST_ASSIGN(const std::size_t column, builder.AddOtherMetric(std::move(metric)));
    columns.push_back({column, scale.factor});
    if (scale.unit == tree::Unit::kCount && type.unit != "count") {
      remarks.Say(fmt::format("{} in {} is taken for a count", type.type, type.unit));
    }
  }
  return columns;
}

std::string BuildId(const std::string& text) {
  if (const auto bytes = HexDecode(text); bytes && bytes->size() <= tree::kMaxBuildIdBytes) {
    return *bytes;
  }
  return text.size() <= tree::kMaxBuildIdBytes ? text : std::string();
}

// The frame of a function in a profile that we wrote.
tree::Frame FrameOfOwn(const PprofFunction& function) {
  if (function.name.empty()) {
    return {.kind = tree::FrameKind::kUnnamed,
            .module = NameOfText(function.module),
            .build_id = BuildId(function.build_id),
            .offset = function.address};
  }
  tree::Frame frame = {.module = NameOfText(function.module),
                       .function = NameOfText(function.name)};
  if (function.module.empty()) frame = FrameOfOwnText(function.name);
  frame.file = NameOfText(function.file);
  return frame;
}

// Other programs record the source file of every function, which would separate these functions
// from those of our recordings.
tree::Frame FrameOf(const PprofFunction& function) {
  tree::Frame frame = FrameOfNames(function.module, function.name);
  if (!function.name.empty()) return frame;
  return {.kind = tree::FrameKind::kUnnamed,
          .module = std::move(frame.module),
          .build_id = BuildId(function.build_id),
          .offset = function.address};
}

// The path of a sample, without its thread's frame.
Result<tree::PathId> PathOf(const PprofSample& sample, const std::vector<tree::FrameId>& frames,
                            bool has_thread_frame, TreeBuilder& builder) {
  tree::PathId path = tree::kRootPath;
  for (std::size_t i = has_thread_frame ? 1 : 0; i < sample.frames.size(); ++i) {
    FIELDCOST_ASSIGN(path, builder.AddPath(path, frames[sample.frames[i]]));
  }
  if (sample.deeper != 0) return builder.AddDeeper(path, sample.deeper);
  return path;
}

// [thread of a sample]: its number in the builder.
Result<std::vector<std::uint32_t>> AddThreads(const PprofContent& content, bool is_own,
                                              TreeBuilder& builder) {
  const auto name = [is_own](const std::string& text) { return is_own ? NameOfText(text) : text; };
  std::vector<std::uint32_t> numbers;
  FIELDCOST_ASSIGN(std::uint32_t number, builder.timed().ThreadOf(recording::Thread()));
  numbers.push_back(number);
  for (const PprofThread& of : content.threads) {
    FIELDCOST_ASSIGN(
        number,
        builder.timed().ThreadOf(
            {.pid = of.pid, .tid = of.tid, .process = name(of.process), .name = name(of.name)}));
    numbers.push_back(number);
  }
  return numbers;
}

Status AddSamples(const PprofContent& content, const std::vector<Column>& columns,
                  const std::vector<tree::FrameId>& frames, bool is_own, TreeBuilder& builder) {
  const bool has_thread_frames =
      is_own && std::ranges::find(content.comments, kThreadsComment) != content.comments.end();
  if (content.threads.empty()) builder.timed().LeaveOut();
  FIELDCOST_ASSIGN(const std::vector<std::uint32_t> threads, AddThreads(content, is_own, builder));
  for (const PprofSample& sample : content.samples) {
    FIELDCOST_ASSIGN(const tree::PathId path, PathOf(sample, frames, has_thread_frames, builder));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::uint64_t value = 0;
      if (__builtin_mul_overflow(sample.values[i], columns[i].factor, &value)) {
        return Fail(ErrorCode::kTooLarge, "a value of {} {}", sample.values[i],
                    content.types[i].unit);
      }
      FIELDCOST_TRY(builder.Add(columns[i].metric, path, value));
      if (content.threads.empty()) continue;
      builder.timed().AddUntimed(columns[i].metric, path, threads[sample.thread], value);
    }
  }
  return {};
}

}  // namespace

Result<Built> ImportPprof(std::string_view untrusted_bytes, Remarks& remarks) {
  FIELDCOST_ASSIGN(const PprofContent content, DecodePprof(untrusted_bytes));
  TreeBuilder builder;
  std::vector<Column> columns;
  const std::vector<tree::Metric> own = OwnMetrics(content);
  for (const tree::Metric& metric : own) {
    FIELDCOST_ASSIGN(const std::size_t column, builder.AddOtherMetric(metric));
    columns.push_back({column, 1});
  }
  if (own.empty()) {
    FIELDCOST_ASSIGN(columns, OtherMetrics(content, builder, remarks));
  }
  std::vector<tree::FrameId> frames;
  for (const PprofFunction& function : content.functions) {
    FIELDCOST_ASSIGN(const tree::FrameId frame,
                     builder.AddFrame(own.empty() ? FrameOf(function) : FrameOfOwn(function)));
    frames.push_back(frame);
  }
  FIELDCOST_TRY(AddSamples(content, columns, frames, !own.empty(), builder));
  return builder.BuildTimed(remarks);
}

}  // namespace fieldcost::exchange

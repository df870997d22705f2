#include "tools/analysis/idle_timeline.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "common/base/check.h"
#include "common/stats/uint128.h"
#include "common/tree/tree.h"

namespace fieldcost::analysis {
namespace {

using recording::Interval;
using recording::Recording;

class TimelineMaker {
 public:
  TimelineMaker(const Recording& recording, std::size_t bins, IdleTimeline& timeline)
      : recording_(recording), bins_(bins), timeline_(timeline) {}

  Status AddPart(const Interval& part) {
    const recording::Descriptions& about = recording_.contents().descriptions;
    const auto metric = tree::FindMetric(about.metrics, idle::kCpuIdle);
    for (std::size_t i = 0; metric && i < about.streams.size(); ++i) {
      const std::vector<std::uint16_t>& metrics = about.streams[i].metrics;
      const auto place = std::ranges::find(metrics, *metric);
      if (place == metrics.end()) continue;
      const auto at = static_cast<std::size_t>(place - metrics.begin());
      FIELDCOST_TRY(recording_.ForEachSample(
          recording::StreamId(static_cast<std::uint16_t>(i)), {.from_ns = part.from_ns},
          [&](std::uint64_t time_ns, std::uint32_t path, std::span<const std::uint64_t> values) {
            Add(part, tree::PathId(path), time_ns, values[at]);
          }));
    }
    if (saturated_) return Fail(ErrorCode::kTooLarge, "idle time exceeds 64 bits");
    return {};
  }

  void Finish() {
    for (auto& [number, cpu] : cpus_) timeline_.cpus.push_back(std::move(cpu));
  }

 private:
  // Adds the share of a period that falls in the part; the period may end after it.
  void Add(const Interval& part, tree::PathId path, std::uint64_t end_ns, std::uint64_t ns) {
    const auto [known, is_new] = where_.try_emplace(path.value());
    if (is_new) known->second = CpuWhyOf(recording_.dictionary(), path);
    if (!known->second.cpu || ns == 0) return;
    IdleTimeline::Cpu* const cpu = Find(*known->second.cpu);
    if (cpu == nullptr) return;
    std::uint64_t at = std::max(end_ns - std::min(end_ns, ns), part.from_ns) - part.from_ns;
    const std::uint64_t to = std::min(end_ns, part.to_ns) - part.from_ns;
    if (at >= to) return;
    for (std::size_t bin = BinOf(at); at < to && bin < bins_; ++bin) {
      const std::uint64_t edge = std::min(to, timeline_.EdgeNs(bin + 1, bins_));
      std::uint64_t& sum = cpu->bins[bin].at(known->second.why);
      sum = stats::SaturatingAdd(sum, edge - at, saturated_);
      at = edge;
    }
  }

  IdleTimeline::Cpu* Find(std::uint32_t number) {
    if (const auto found = cpus_.find(number); found != cpus_.end()) return &found->second;
    if (cpus_.size() == kMaxTimelineCpus) {
      timeline_.has_more = true;
      return nullptr;
    }
    IdleTimeline::Cpu& cpu = cpus_[number];
    cpu.cpu = number;
    cpu.bins.resize(bins_);
    return &cpu;
  }

  // The last bin that begins at or before this time.
  std::size_t BinOf(std::uint64_t ns) const {
    return static_cast<std::size_t>((stats::Uint128{ns} * bins_ + bins_ - 1) / timeline_.length_ns);
  }

  const Recording& recording_;
  const std::size_t bins_;
  IdleTimeline& timeline_;
  std::map<std::uint32_t, IdleTimeline::Cpu> cpus_;
  std::unordered_map<std::uint32_t, CpuWhy> where_;
  bool saturated_ = false;
};

}  // namespace

std::uint64_t IdleTimeline::EdgeNs(std::size_t i, std::size_t bins) const {
  FIELDCOST_CHECK(bins > 0 && i <= bins);
  return static_cast<std::uint64_t>(stats::Uint128{length_ns} * i / bins);
}

Result<std::optional<IdleTimeline>> MakeIdleTimeline(const Recording& recording,
                                                     std::span<const Interval> parts,
                                                     std::size_t bins) {
  FIELDCOST_CHECK(bins > 0);
  const std::optional<Interval> span = recording.Span();
  if (!span) return std::optional<IdleTimeline>();
  IdleTimeline timeline{.parts = parts.size()};
  for (const Interval& part : parts) {
    const std::uint64_t to_ns = std::min(part.to_ns, span->to_ns);
    timeline.length_ns = std::max(timeline.length_ns, to_ns - std::min(to_ns, part.from_ns));
  }
  if (timeline.length_ns == 0) return std::optional<IdleTimeline>();
  TimelineMaker maker(recording, bins, timeline);
  for (const Interval& part : parts) FIELDCOST_TRY(maker.AddPart(part));
  maker.Finish();
  return std::optional(std::move(timeline));
}

}  // namespace fieldcost::analysis

#include "agent/trace/sample_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agent/perf/cut_counts.h"
#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/tree/identity.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::trace {
namespace {

const char* CutName(Sample::Kind kind) {
  switch (kind) {
    case Sample::Kind::kWait:
      return perf::kCutWaits;
    case Sample::Kind::kCounter:
      return perf::kCutCounters;
    case Sample::Kind::kCpu:
      break;
  }
  return perf::kCutSamples;
}

}  // namespace

Result<SampleWriter> SampleWriter::Create(const std::filesystem::path& file,
                                          std::uint64_t period_ns,
                                          const std::vector<perf::Counter>& counters) {
  auto dictionary = std::make_unique<tree::Dictionary>();
  const std::uint64_t begin_ns = MonotonicNs();
  const recording::ClockAnchors anchors{.created_ns = ClockNs(CLOCK_REALTIME),
                                        .monotonic_ns = begin_ns};
  FIELDCOST_ASSIGN(recording::Writer writer, recording::Writer::Create(file, *dictionary, anchors));
  SampleWriter made(std::move(dictionary), std::move(writer), begin_ns);
  FIELDCOST_ASSIGN(const std::uint16_t cpu,
                   made.writer_.AddMetric({.name = kCpu, .per_sample = period_ns}));
  FIELDCOST_ASSIGN(made.samples_, made.writer_.AddStream({.kind = recording::StreamKind::kSamples,
                                                          .name = perf::kSamplesStream,
                                                          .metrics = {cpu}}));
  FIELDCOST_ASSIGN(const std::uint16_t off_cpu, made.writer_.AddMetric({.name = kOffCpu}));
  FIELDCOST_ASSIGN(made.waits_, made.writer_.AddStream({.kind = recording::StreamKind::kWaits,
                                                        .name = "waits",
                                                        .metrics = {off_cpu}}));
  for (const perf::Counter counter : counters) FIELDCOST_TRY(made.AddCounter(counter, period_ns));
  return made;
}

Status SampleWriter::AddCounter(perf::Counter counter, std::uint64_t period_ns) {
  const std::string name(Name(counter));
  FIELDCOST_ASSIGN(const std::uint16_t metric,
                   writer_.AddMetric({.name = name,
                                      .unit = tree::Unit::kCount,
                                      .per_sample = perf::PeriodOf(counter, period_ns)}));
  FIELDCOST_ASSIGN(
      const recording::StreamId stream,
      writer_.AddStream(
          {.kind = recording::StreamKind::kSamples, .name = name, .metrics = {metric}}));
  counters_.push_back(stream);
  return {};
}

std::uint64_t SampleWriter::Now() const { return MonotonicNs() - begin_ns_; }

Status SampleWriter::BeginRun(std::string_view command) {
  paths_.ForgetModules();
  threads_.clear();
  run_begin_ns_ = Now();
  FIELDCOST_ASSIGN(run_, writer_.BeginRun(run_begin_ns_, command, ""));
  return {};
}

Status SampleWriter::Append(recording::StreamId stream, std::uint64_t time_ns, tree::PathId path,
                            std::span<const std::uint64_t> values, recording::ThreadId thread) {
  last_ns_ = std::max(last_ns_, time_ns);
  return writer_.Append(stream, time_ns, path, values, thread);
}

Result<tree::PathId> SampleWriter::PathOf(const Sample& sample,
                                          const std::vector<perf::SampledModule>& modules) {
  FIELDCOST_ASSIGN(std::vector<tree::FrameId> frames,
                   paths_.FramesOf(sample.frames, sample.end, tree::kMaxDepth - 2, modules));
  if (sample.special != nullptr) {
    FIELDCOST_ASSIGN(const tree::FrameId special,
                     dictionary_->frames.Intern(tree::SpecialFrame(sample.special)));
    frames.push_back(special);
  }
  tree::PathId path = tree::kRootPath;
  for (const tree::FrameId frame : frames) {
    FIELDCOST_ASSIGN(path, dictionary_->paths.Intern(path, frame));
  }
  return path;
}

recording::ThreadId SampleWriter::ThreadOf(const Sample& sample, ThreadList& threads) {
  if (sample.tid == 0) return recording::kNoThread;
  return ThreadAt(threads.Of(sample.pid, sample.tid), threads);
}

recording::ThreadId SampleWriter::ThreadAt(std::uint32_t index, const ThreadList& threads) {
  const SampledThread& thread = threads.all()[index];
  recording::Thread named{.pid = static_cast<std::uint32_t>(thread.pid),
                          .tid = static_cast<std::uint32_t>(thread.tid),
                          .process = thread.process,
                          .name = thread.name};
  if (threads_.size() <= index) threads_.resize(index + 1);
  std::optional<recording::ThreadId>& known = threads_[index];
  if (known) {
    if (*known != recording::kNoThread) writer_.SetThread(*known, std::move(named));
    return *known;
  }
  const auto added = writer_.AddThread(std::move(named));
  if (!added) ++counts_["samples of threads beyond the limit"];
  known = added.value_or(recording::kNoThread);
  return *known;
}

Status SampleWriter::Take(const Sample& sample, const std::vector<perf::SampledModule>& modules,
                          ThreadList& threads) {
  Result<tree::PathId> path = PathOf(sample, modules);
  if (!path) {
    if (path.error().code != ErrorCode::kTooLarge) return path.error();
    ++counts_["samples in [other]"];
    FIELDCOST_ASSIGN(const tree::FrameId other,
                     dictionary_->frames.Intern(tree::SpecialFrame(tree::kOther)));
    FIELDCOST_ASSIGN(path, dictionary_->paths.Intern(tree::kRootPath, other));
  }
  if (sample.end != unwind::StackEnd::kOutermost) ++counts_[CutName(sample.kind)];
  const std::uint64_t time_ns = sample.time_ns - std::min(sample.time_ns, begin_ns_);
  const recording::ThreadId thread = ThreadOf(sample, threads);
  if (sample.kind == Sample::Kind::kCounter)
    return Append(counters_.at(sample.counter), time_ns, *path, {&sample.events, 1}, thread);
  if (sample.kind == Sample::Kind::kCpu)
    return Append(samples_, time_ns, *path, {&sample.weight_ns, 1}, thread);
  TakeWait(sample, *path, thread);
  return {};
}

// Waiting time before the run began, as in a process that was already running, does not belong to
// the run.
void SampleWriter::TakeWait(const Sample& sample, tree::PathId path, recording::ThreadId thread) {
  const std::uint64_t end_ns = sample.time_ns - std::min(sample.time_ns, begin_ns_);
  const std::uint64_t longest_ns = end_ns - std::min(end_ns, run_begin_ns_);
  const std::uint64_t length_ns = std::min(sample.weight_ns, longest_ns);
  if (length_ns == 0) return;
  held_back_.push_back({.end_ns = end_ns, .length_ns = length_ns, .path = path, .thread = thread});
}

Status SampleWriter::PutWaits(std::uint64_t until_ns) {
  std::ranges::stable_sort(held_back_, {}, &Wait::end_ns);
  const auto behind = std::ranges::upper_bound(held_back_, until_ns, {}, &Wait::end_ns);
  for (auto wait = held_back_.begin(); wait != behind; ++wait)
    FIELDCOST_TRY(Append(waits_, wait->end_ns, wait->path, {&wait->length_ns, 1}, wait->thread));
  held_back_.erase(held_back_.begin(), behind);
  return {};
}

Status SampleWriter::Flush(std::uint64_t waits_until_ns) {
  FIELDCOST_TRY(PutWaits(waits_until_ns - std::min(waits_until_ns, begin_ns_)));
  return writer_.Flush();
}

Status SampleWriter::EndRun(int exit_status, const SamplerCounts& counts) {
  FIELDCOST_TRY(PutWaits(UINT64_MAX));
  counts_["lost records"] += counts.lost;
  counts_["records not understood"] += counts.unreadable;
  counts_["samples of 32-bit programs"] += counts.of_32_bit;
  counts_["late records"] += counts.out_of_order;
  counts_["waits of 1 ms and more without a stack"] += counts.missed_waits;
  for (const auto& [name, value] : counts_) FIELDCOST_TRY(writer_.SetCount(name, value));
  // The run ends after all of its samples.
  return writer_.EndRun(run_, std::max(Now(), last_ns_ + 1), exit_status);
}

}  // namespace fieldcost::trace

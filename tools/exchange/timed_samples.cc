#include "tools/exchange/timed_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/recording/by_thread.h"
#include "common/recording/recording_limits.h"
#include "common/recording/recording_writer.h"
#include "tools/exchange/exchange_limits.h"
#include "tools/exchange/tree_builder.h"

namespace fieldcost::exchange {
namespace {

using recording::kMaxSpanNs;
using recording::StreamKind;

}  // namespace

Result<std::uint32_t> TimedSamples::ThreadOf(const std::string& untrusted_key,
                                             recording::Thread thread) {
  const auto [known, is_new] =
      numbers_.try_emplace(untrusted_key, static_cast<std::uint32_t>(threads_.size()));
  if (!is_new) return known->second;
  if (threads_.size() == kMaxThreads) {
    return Fail(ErrorCode::kTooLarge, "there are more than {} threads", kMaxThreads);
  }
  threads_.push_back(std::move(thread));
  return known->second;
}

Result<std::uint32_t> TimedSamples::ThreadOf(const recording::Thread& thread) {
  return ThreadOf(fmt::format("{} {} {}\n{}", thread.pid, thread.tid, thread.process, thread.name),
                  thread);
}

void TimedSamples::SetThread(std::uint32_t number, recording::Thread thread) {
  threads_[number] = std::move(thread);
}

void TimedSamples::Add(std::size_t metric, tree::PathId path, std::uint32_t thread,
                       std::uint64_t ns, std::uint64_t amount) {
  samples_.push_back({.ns = ns,
                      .amount = amount,
                      .path = path.value(),
                      .thread = thread,
                      .metric = static_cast<std::uint32_t>(metric)});
}

void TimedSamples::AddSpan(std::size_t metric, tree::PathId path, std::uint32_t thread,
                           std::uint64_t end_ns, std::uint64_t length_ns) {
  FIELDCOST_CHECK(length_ns <= end_ns);
  if (length_ns == 0) return;
  Add(metric, path, thread, end_ns, length_ns);
  samples_.back().is_span = true;
}

void TimedSamples::AddUntimed(std::size_t metric, tree::PathId path, std::uint32_t thread,
                              std::uint64_t amount) {
  if (amount == 0) return;
  Add(metric, path, thread, 0, amount);
  ++untimed_;
}

// Shifts times to begin at 0 and splits spans to the maximum length in a recording.
Status TimedSamples::Divide(std::uint64_t& begin_ns) {
  begin_ns = UINT64_MAX;
  std::uint64_t end_ns = 0;
  std::uint64_t extra = 0;
  for (const Sample& sample : samples_) {
    const std::uint64_t length_ns = sample.is_span ? sample.amount : 0;
    begin_ns = std::min(begin_ns, sample.ns - length_ns);
    end_ns = std::max(end_ns, sample.ns);
    extra += length_ns / kMaxSpanNs;
  }
  if (end_ns - begin_ns >= recording::kMaxTimeNs || extra > MostExtraParts(samples_.size())) {
    return Fail(ErrorCode::kTooLarge, "they span more than a recording can hold");
  }
  for (std::size_t i = 0, count = samples_.size(); i < count; ++i) {
    samples_[i].ns -= begin_ns;
    while (samples_[i].is_span && samples_[i].amount > kMaxSpanNs) {
      Sample part = samples_[i];
      part.amount = kMaxSpanNs;
      samples_.push_back(part);
      samples_[i].ns -= kMaxSpanNs;
      samples_[i].amount -= kMaxSpanNs;
    }
  }
  std::ranges::stable_sort(samples_, {}, &Sample::ns);
  return {};
}

Status TimedSamples::Write(const tree::Dictionary& dictionary,
                           const std::vector<tree::Metric>& metrics, std::string& bytes) {
  std::uint64_t begin_ns = 0;
  FIELDCOST_TRY(Divide(begin_ns));
  recording::Writer writer = recording::Writer::InMemory(dictionary, {.monotonic_ns = begin_ns});
  const bool has_spans = std::ranges::any_of(samples_, &Sample::is_span);
  std::vector<recording::StreamId> streams;
  for (const tree::Metric& metric : metrics) {
    FIELDCOST_ASSIGN(const std::uint16_t number, writer.AddMetric(metric));
    FIELDCOST_ASSIGN(
        const recording::StreamId stream,
        writer.AddStream({.kind = has_spans ? StreamKind::kEvents : StreamKind::kSamples,
                          .name = metric.name,
                          .metrics = {number}}));
    streams.push_back(stream);
  }
  std::vector<recording::ThreadId> threads;
  for (recording::Thread& thread : threads_) {
    if (untimed_ != 0 && thread == recording::Thread()) {
      threads.push_back(recording::kNoThread);
      continue;
    }
    FIELDCOST_ASSIGN(const recording::ThreadId number, writer.AddThread(std::move(thread)));
    threads.push_back(number);
  }
  FIELDCOST_ASSIGN(const std::uint32_t run, writer.BeginRun(0, "", ""));
  for (const Sample& sample : samples_) {
    FIELDCOST_TRY(writer.Append(streams[sample.metric], sample.ns, tree::PathId(sample.path),
                                {&sample.amount, 1}, threads[sample.thread]));
  }
  FIELDCOST_TRY(writer.EndRun(run, samples_.back().ns + 1, 0));
  if (untimed_ != 0) {
    FIELDCOST_TRY(writer.SetCount(recording::kSamplesWithoutTime, samples_.size()));
  }
  FIELDCOST_ASSIGN(bytes, writer.TakeBytes());
  return {};
}

std::optional<std::string> TimedSamples::Record(const tree::Dictionary& dictionary,
                                                const std::vector<tree::Metric>& metrics,
                                                Remarks& remarks) && {
  if (samples_.empty() || is_left_out_) return std::nullopt;
  if (untimed_ != 0 && untimed_ != samples_.size()) return std::nullopt;
  std::string bytes;
  if (const Status written = Write(dictionary, metrics, bytes); !written) {
    remarks.Say("times and threads are left out: " + written.error().message);
    return std::nullopt;
  }
  return bytes;
}

}  // namespace fieldcost::exchange

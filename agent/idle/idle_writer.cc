#include "agent/idle/idle_writer.h"

#include "agent/perf/name_frames.h"
#include "common/base/clock.h"
#include "common/tree/frame.h"

namespace fieldcost::idle_agent {
namespace {

// Maximum number of idle periods per CPU for which no thread has resumed yet.
constexpr std::size_t kMostPending = 65'536;

}  // namespace

IdleWriter::IdleWriter(std::unique_ptr<tree::Dictionary> dictionary, recording::Writer writer,
                       std::filesystem::path file, Options options, std::uint64_t begin_ns)
    : dictionary_(std::move(dictionary)),
      paths_(*dictionary_),
      writer_(std::move(writer)),
      file_(std::move(file)),
      options_(std::move(options)),
      begin_ns_(begin_ns) {}

Result<IdleWriter> IdleWriter::Create(const std::filesystem::path& file, const Options& options) {
  auto dictionary = std::make_unique<tree::Dictionary>();
  const std::uint64_t begin_ns = MonotonicNs();
  FIELDCOST_ASSIGN(
      recording::Writer writer,
      recording::Writer::Create(file, *dictionary,
                                {.created_ns = ClockNs(CLOCK_REALTIME), .monotonic_ns = begin_ns}));
  IdleWriter made(std::move(dictionary), std::move(writer), file, options, begin_ns);
  FIELDCOST_TRY(made.AddStreams());
  return made;
}

Status IdleWriter::AddStreams() {
  FIELDCOST_ASSIGN(to_, AddStream(idle::kToIdle, idle::kToIdleTicks));
  FIELDCOST_ASSIGN(from_, AddStream(idle::kFromIdle, idle::kFromIdleTicks));
  FIELDCOST_ASSIGN(pairs_, AddStream(idle::kPairs, idle::kPairTicks));
  const std::uint64_t per_sample = options_.sampled ? tick_ns() : 0;
  FIELDCOST_ASSIGN(const std::uint16_t cpu_idle,
                   writer_.AddMetric({.name = idle::kCpuIdle, .per_sample = per_sample}));
  FIELDCOST_ASSIGN(cpus_, writer_.AddStream({.kind = recording::StreamKind::kIdle,
                                             .name = idle::EncodeAbout(options_.about),
                                             .metrics = {cpu_idle}}));
  FIELDCOST_ASSIGN(const std::uint16_t stat, writer_.AddMetric({.name = idle::kStatIdle}));
  FIELDCOST_ASSIGN(
      stat_, writer_.AddStream(
                 {.kind = recording::StreamKind::kIdle, .name = "proc-stat", .metrics = {stat}}));
  return {};
}

Result<recording::StreamId> IdleWriter::AddStream(const char* name, const char* ticks_name) {
  const std::uint64_t per_sample = options_.sampled ? tick_ns() : 0;
  FIELDCOST_ASSIGN(const std::uint16_t ns,
                   writer_.AddMetric({.name = name, .per_sample = per_sample}));
  FIELDCOST_ASSIGN(const std::uint16_t ticks,
                   writer_.AddMetric({.name = ticks_name,
                                      .unit = tree::Unit::kCount,
                                      .per_sample = options_.sampled ? 1U : 0U}));
  return writer_.AddStream(
      {.kind = recording::StreamKind::kIdle, .name = name, .metrics = {ns, ticks}});
}

Status IdleWriter::BeginRun(std::string_view command) {
  run_begin_ns_ = MonotonicNs();
  before_run_ns_ = 0;
  paths_.ForgetModules();
  FIELDCOST_ASSIGN(run_, writer_.BeginRun(At(run_begin_ns_), command, ""));
  return {};
}

Status IdleWriter::EndRun(int exit_status) {
  for (const auto& [cpu, all] : pending_) {
    FIELDCOST_ASSIGN(const std::vector<tree::FrameId> nobody, Special(idle::kNobody));
    for (const Pending& pending : all) FIELDCOST_TRY(TakePair(pending, nobody, {}));
  }
  pending_.clear();
  // The run ends after all of its samples.
  const std::uint64_t now = At(MonotonicNs());
  return writer_.EndRun(run_, std::max(now, last_ns_ + 1), exit_status);
}

Result<StackId> IdleWriter::AddStack(const std::vector<perf::SampledFrame>& frames,
                                     unwind::StackEnd end, idle::Why why,
                                     const std::vector<perf::SampledModule>& modules) {
  return Intern(paths_.FramesOf(frames, end, idle::kPartFrames, modules), why);
}

Result<StackId> IdleWriter::AddRunning(const std::vector<perf::SampledFrame>& frames,
                                       unwind::StackEnd end,
                                       const std::vector<perf::SampledModule>& modules) {
  return Intern(paths_.FramesOf(frames, end, idle::kPartFrames, modules), std::nullopt);
}

Result<StackId> IdleWriter::Intern(Result<std::vector<tree::FrameId>> frames,
                                   std::optional<idle::Why> why) {
  if (!frames && frames.error().code == ErrorCode::kTooLarge) frames = Special(tree::kOther);
  FIELDCOST_TRY(frames);
  if (why) {
    FIELDCOST_ASSIGN(const tree::FrameId reason,
                     dictionary_->frames.Intern(tree::SpecialFrame(idle::FrameName(*why))));
    frames->push_back(reason);
  }
  FIELDCOST_ASSIGN(const tree::PathId path, PathOf(*frames));
  const auto [found, is_new] =
      stack_of_.try_emplace(path, StackId{static_cast<std::uint32_t>(stacks_.size())});
  if (is_new) {
    stacks_.push_back(
        {.frames = *std::move(frames), .path = path, .why = why.value_or(idle::Why::kLost)});
  }
  return found->second;
}

// Returns [other], whose room is reserved, once the dictionary is full.
Result<tree::PathId> IdleWriter::PathOf(const std::vector<tree::FrameId>& frames) {
  tree::PathId path = tree::kRootPath;
  for (const tree::FrameId frame : frames) {
    const auto next = dictionary_->paths.Intern(path, frame);
    if (!next && next.error().code == ErrorCode::kTooLarge) {
      FIELDCOST_ASSIGN(const std::vector<tree::FrameId> other, Special(tree::kOther));
      return dictionary_->paths.Intern(tree::kRootPath, other[0]);
    }
    FIELDCOST_ASSIGN(path, next);
  }
  return path;
}

Result<std::vector<tree::FrameId>> IdleWriter::Special(const char* name) {
  FIELDCOST_ASSIGN(const tree::FrameId frame, dictionary_->frames.Intern(tree::SpecialFrame(name)));
  return std::vector<tree::FrameId>{frame};
}

// Removes idle time before the run began, which does not belong to the run. A tick counts in full,
// even if the run began within it.
Idle IdleWriter::InRun(Idle idle) {
  if (idle.begin_ns >= run_begin_ns_) return idle;
  const std::uint64_t length = idle.end_ns - idle.begin_ns;
  idle.begin_ns = run_begin_ns_;
  idle.end_ns = std::max(idle.end_ns, run_begin_ns_ + (options_.sampled ? length : 0));
  before_run_ns_ += length - (idle.end_ns - idle.begin_ns);
  return idle;
}

Status IdleWriter::Take(const Idle& whole) {
  const Idle idle = InRun(whole);
  const std::uint64_t length = idle.end_ns - idle.begin_ns;
  if (length == 0) return {};
  const Pending pending{.to = idle.to,
                        .end_ns = idle.end_ns,
                        .values = {length, idle.end_ns / tick_ns() - idle.begin_ns / tick_ns()},
                        .is_lost = !idle.to && idle.why == idle::Why::kLost};
  idle_ns_ += length;
  idle::Why why = idle.why;
  if (idle.to) {
    const Stack& stack = stacks_.at(idle.to->value());
    why = stack.why;
    explained_ns_ += length;
    FIELDCOST_TRY(Append(to_, idle.end_ns, stack.path, pending.values));
  }
  FIELDCOST_TRY(TakeOfCpu(idle, why, length));
  std::vector<Pending>& waiting = pending_[idle.cpu];
  // It is possible that no thread ever resumes, for example where no monitored thread runs.
  if (waiting.size() == kMostPending) {
    FIELDCOST_ASSIGN(const std::vector<tree::FrameId> nobody, Special(idle::kNobody));
    for (const Pending& old : waiting) FIELDCOST_TRY(TakePair(old, nobody, {}));
    waiting.clear();
  }
  waiting.push_back(pending);
  return {};
}

Status IdleWriter::GoesOn(std::uint32_t cpu, StackId from, const Waker& waker) {
  const auto found = pending_.find(cpu);
  if (found == pending_.end()) return {};
  const Stack& stack = stacks_.at(from.value());
  std::vector<tree::FrameId> woken_by;
  if (waker.stack) {
    woken_by = stacks_.at(waker.stack->value()).frames;
  } else if (waker.special != nullptr) {
    FIELDCOST_ASSIGN(woken_by, Special(waker.special));
  }
  for (const Pending& pending : found->second) {
    if (pending.is_lost) continue;
    FIELDCOST_TRY(Append(from_, pending.end_ns, stack.path, pending.values));
    FIELDCOST_TRY(TakePair(pending, stack.frames, woken_by));
  }
  found->second.clear();
  return {};
}

Status IdleWriter::TakePair(const Pending& pending, const std::vector<tree::FrameId>& from,
                            const std::vector<tree::FrameId>& waker) {
  if (!pending.to) return {};
  auto path = idle::InternPair(
      {.to = stacks_.at(pending.to->value()).frames, .from = from, .waker = waker}, *dictionary_);
  if (!path && path.error().code == ErrorCode::kTooLarge) {
    FIELDCOST_ASSIGN(const std::vector<tree::FrameId> other, Special(tree::kOther));
    path = PathOf(other);
  }
  FIELDCOST_TRY(path);
  return Append(pairs_, pending.end_ns, *path, pending.values);
}

Status IdleWriter::TakeOfCpu(const Idle& idle, idle::Why why, std::uint64_t length_ns) {
  FIELDCOST_ASSIGN(const tree::FrameId cpu, dictionary_->frames.Intern(idle::CpuFrame(idle.cpu)));
  FIELDCOST_ASSIGN(const tree::FrameId reason,
                   dictionary_->frames.Intern(tree::SpecialFrame(idle::FrameName(why))));
  FIELDCOST_ASSIGN(const tree::PathId path, PathOf({cpu, reason}));
  return Append(cpus_, idle.end_ns, path, {&length_ns, 1});
}

Status IdleWriter::TakeStatIdle(std::uint32_t cpu, std::uint64_t time_ns, std::uint64_t idle_ns) {
  FIELDCOST_ASSIGN(const tree::FrameId frame, dictionary_->frames.Intern(idle::CpuFrame(cpu)));
  FIELDCOST_ASSIGN(const tree::PathId path, PathOf({frame}));
  return Append(stat_, time_ns, path, {&idle_ns, 1});
}

Status IdleWriter::Append(recording::StreamId stream, std::uint64_t time_ns, tree::PathId path,
                          std::span<const std::uint64_t> values) {
  last_ns_ = std::max(last_ns_, At(time_ns));
  return writer_.Append(stream, At(time_ns), path, values);
}

Status IdleWriter::Close(bool unnamed) {
  FIELDCOST_TRY(writer_.Close());
  if (unnamed) return {};
  FIELDCOST_TRY(perf::NameFrames(file_, paths_.places()));
  return {};
}

}  // namespace fieldcost::idle_agent

#include "agent/trace/trace.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "agent/perf/command_child.h"
#include "agent/perf/recording_loop.h"
#include "agent/perf/urgent.h"
#include "agent/reach/child_watch.h"
#include "agent/settings/scratch_directory.h"
#include "agent/trace/sample_writer.h"
#include "agent/trace/sampler.h"
#include "common/base/child_process.h"
#include "common/base/clock.h"
#include "common/base/file.h"

namespace fieldcost::trace {
namespace {

// The events of one run, if events are recorded.
class EventRun {
 public:
  static Result<EventRun> Begin(EventWriter* writer) {
    EventRun run;
    run.writer_ = writer;
    if (writer == nullptr) return run;
    FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
    FIELDCOST_ASSIGN(settings::ScratchDirectory directory,
                     settings::ScratchDirectory::Make(paths, "trace"));
    run.directory_.emplace(std::move(directory));
    FIELDCOST_ASSIGN(run.variables_, writer->BeginRun(run.directory_->path()));
    return run;
  }
  const events::Variables& variables() const { return variables_; }
  void SetThreads(ThreadList& threads) {
    if (writer_ != nullptr) writer_->SetThreads(threads);
  }
  void WatchChildren(pid_t program, const std::string& library) {
    if (writer_ == nullptr) return;
    children_.emplace(reach::SurveyOptions{.uid = ::getuid(), .library = library}, program);
  }
  Status Look() {
    if (writer_ == nullptr) return {};
    children_->LookIfDue();
    return writer_->LookIfDue();
  }
  // Returns the programs that were seen without events, and why.
  std::vector<std::string> without_events() const {
    return children_ ? children_->Unmeasured() : std::vector<std::string>();
  }
  Status End() { return writer_ == nullptr ? Status() : writer_->EndRun(); }

 private:
  EventRun() = default;

  EventWriter* writer_ = nullptr;
  std::optional<settings::ScratchDirectory> directory_;
  std::optional<reach::ChildWatch> children_;
  events::Variables variables_;
};

// Writes samples until the sampler ends; with `end`, at most until then or a signal.
Status Watch(Sampler& sampler, SampleWriter& writer, EventRun& events, const Status& taken,
             std::optional<perf::Time> end = std::nullopt) {
  const perf::Urgent urgent;
  perf::FlushTimer flush;
  for (;;) {
    FIELDCOST_ASSIGN(const bool some_left, sampler.Wait(perf::kLook));
    FIELDCOST_TRY(taken);
    if (!some_left) return {};
    FIELDCOST_TRY(events.Look());
    const perf::Time now = std::chrono::steady_clock::now();
    if (end && (now >= *end || perf::StoppedBy() != 0)) {
      sampler.Finish();
      return taken;
    }
    if (flush.IsDue(now)) FIELDCOST_TRY(writer.Flush(sampler.waits_given_until_ns()));
  }
}

void CountCut(const Sample& sample, TraceResult& result) {
  const bool is_whole = sample.end == unwind::StackEnd::kOutermost;
  if (sample.kind == Sample::Kind::kCpu && !is_whole) ++result.cut;
}

// Writes events until the child, which is not sampled, ends.
Status Follow(perf::CommandChild& child, SampleWriter& writer, EventRun& events) {
  for (;;) {
    FIELDCOST_ASSIGN(const bool is_over, child.EndsWithin(perf::kLook));
    if (is_over) return {};
    FIELDCOST_TRY(events.Look());
    FIELDCOST_TRY(writer.Flush(UINT64_MAX));
  }
}

// Runs the command once. Returns its status.
Result<int> RunOnce(const TraceOptions& options, RunInput& input, SampleWriter& writer,
                    EventWriter* event_writer, TraceResult& result) {
  FIELDCOST_ASSIGN(EventRun events, EventRun::Begin(event_writer));
  FIELDCOST_ASSIGN(const int read, input.Next());
  FIELDCOST_ASSIGN(perf::CommandChild child,
                   perf::CommandChild::Prepare(options.command, events.variables(), read));
  events.WatchChildren(child.pid(), options.events.library.filename().string());
  Status taken;
  std::unique_ptr<Sampler> sampler;
  const auto take = [&](const Sample& sample) {
    if (taken) taken = writer.Take(sample, sampler->modules(), sampler->thread_list());
    CountCut(sample, result);
  };
  auto made = Sampler::OfNextExec(
      child.pid(), {.period_ns = options.period_ns, .counters = options.counters}, take);
  Status done = made ? Status() : Status(made.error());
  // Records events even if sampling is not possible.
  if (!made && event_writer != nullptr && perf::IsRefused(made.error())) {
    result.why_no_samples = made.error().message;
    done = {};
  }
  if (done) done = writer.BeginRun(fmt::format("{}", fmt::join(options.command, " ")));
  if (done) {
    if (made) {
      sampler = *std::move(made);
      events.SetThreads(sampler->thread_list());
    }
    child.Go();
    done = sampler ? Watch(*sampler, writer, events, taken) : Follow(child, writer, events);
  }
  if (!done) child.Kill();
  const Result<int> status = child.Wait();
  FIELDCOST_TRY(done);
  FIELDCOST_TRY(status);
  const SamplerCounts counts = sampler ? sampler->counts() : SamplerCounts();
  result.samples += counts.samples;
  result.lost += counts.lost;
  for (std::string& program : events.without_events()) {
    result.without_events.insert(std::move(program));
  }
  FIELDCOST_TRY(events.End());
  FIELDCOST_TRY(writer.EndRun(*status, counts));
  return status;
}

Status Close(const TraceOptions& options, SampleWriter& writer,
             const std::vector<std::string>& unmeasured, TraceResult& result) {
  FIELDCOST_TRY(writer.Close());
  result.reader_ns = ClockNs(CLOCK_PROCESS_CPUTIME_ID);
  if (options.unnamed) return {};
  FIELDCOST_ASSIGN(result.named, perf::NameFrames(options.output, writer.places(), unmeasured));
  result.cut -= std::min(result.cut, result.named.whole);
  return {};
}

// Traces a running process, which is not affected.
Result<TraceResult> TraceRunning(const TraceOptions& options) {
  perf::HandleSignals();
  TraceResult result;
  Status taken;
  std::optional<SampleWriter> writer;
  std::unique_ptr<Sampler> sampler;
  const auto take = [&](const Sample& sample) {
    if (taken) taken = writer->Take(sample, sampler->modules(), sampler->thread_list());
    CountCut(sample, result);
  };
  // Created first: if it fails, there is no recording, and an existing one is kept.
  FIELDCOST_ASSIGN(
      sampler,
      Sampler::OfRunning(options.pid,
                         {.period_ns = options.period_ns, .counters = options.counters}, take));
  FIELDCOST_ASSIGN(writer,
                   SampleWriter::Create(options.output, options.period_ns, options.counters));
  FIELDCOST_TRY(writer->BeginRun(perf::CommandOfProcess(options.pid)));
  const perf::Time end = perf::EndAfter(options.for_ns);
  FIELDCOST_ASSIGN(EventRun no_events, EventRun::Begin(nullptr));
  FIELDCOST_TRY(Watch(*sampler, *writer, no_events, taken, end));
  result.samples = sampler->counts().samples;
  result.lost = sampler->counts().lost;
  result.runs = 1;
  FIELDCOST_TRY(writer->EndRun(0, sampler->counts()));
  FIELDCOST_TRY(Close(options, *writer, {}, result));
  return result;
}

}  // namespace

Result<TraceResult> Trace(const TraceOptions& options) {
  if (options.pid != 0) return TraceRunning(options);
  perf::HandleSignals();
  FIELDCOST_ASSIGN(RunInput input, perf::InputOfRuns(options.input, options.runs));
  FIELDCOST_ASSIGN(SampleWriter writer,
                   SampleWriter::Create(options.output, options.period_ns, options.counters));
  std::optional<EventWriter> events;
  if (options.events.any()) {
    FIELDCOST_ASSIGN(events, EventWriter::Make(options.events, writer));
  }
  EventWriter* const event_writer = events ? &*events : nullptr;
  TraceResult result;
  while (result.runs < options.runs && perf::StoppedBy() == 0 && result.status == 0) {
    FIELDCOST_ASSIGN(result.status, RunOnce(options, input, writer, event_writer, result));
    ++result.runs;
  }
  if (events) result.uncalled = events->uncalled();
  auto unmeasured = events ? events->unmeasured() : std::vector<std::string>();
  if (!result.why_no_samples.empty()) {
    unmeasured.insert(unmeasured.end(), {SampleWriter::kCpu, SampleWriter::kOffCpu});
    for (const perf::Counter counter : options.counters) unmeasured.emplace_back(Name(counter));
  }
  FIELDCOST_TRY(Close(options, writer, unmeasured, result));
  if (perf::StoppedBy() != 0 && result.status == 0) result.status = kSignalled + perf::StoppedBy();
  return result;
}

}  // namespace fieldcost::trace

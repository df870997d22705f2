#include "agent/idle/record_idle.h"

#include <fmt/ranges.h>

#include <chrono>
#include <memory>
#include <utility>

#include "agent/idle/bpf_collector.h"
#include "agent/idle/candidate_collector.h"
#include "agent/idle/conformance/literal_collector.h"
#include "agent/idle/idle_collector.h"
#include "agent/idle/idle_writer.h"
#include "agent/idle/proc_stat.h"
#include "agent/idle/switch_follower.h"
#include "agent/idle/unprivileged_collector.h"
#include "agent/perf/command_child.h"
#include "agent/perf/recording_loop.h"
#include "common/base/clock.h"

namespace fieldcost::idle_agent {
namespace {

using perf::Time;

Result<std::unique_ptr<Collector>> MakeCollector(idle::Mode mode, const Target& target,
                                                 IdleWriter& writer) {
  if (mode == idle::Mode::kBpf) return BpfCollector::Create(target, writer);
  if (mode == idle::Mode::kUnprivileged) return UnprivilegedCollector::Create(target, writer);
  if (mode == idle::Mode::kCandidates) return CandidateCollector::Create(target, writer);
  return LiteralCollector::Create(target, writer, {});
}

// The file being recorded, and the collector that writes to it.
struct Recorder {
  std::optional<IdleWriter> writer;
  std::unique_ptr<Collector> collector;
};

Status Prepare(const RecordOptions& options, const Target& target, const idle::About& about,
               Recorder& recorder) {
  const bool sampled = about.mode != idle::Mode::kBpf;
  FIELDCOST_ASSIGN(recorder.writer,
                   IdleWriter::Create(options.output, {.about = about, .sampled = sampled}));
  FIELDCOST_ASSIGN(recorder.collector, MakeCollector(about.mode, target, *recorder.writer));
  return {};
}

// Falls back to mode unprivileged~ if the kernel does not report switches.
void FallBack(idle::About& about) {
  if (about.mode != idle::Mode::kUnprivileged || SwitchFollower::IsAllowed()) return;
  about.mode = idle::Mode::kCandidates;
  about.why += "; a guess: kernel.perf_event_paranoid is above 2";
}

// Prepares a run: the first run in the requested mode, or else in the first mode that is possible.
Status PrepareRun(const RecordOptions& options, const Target& target, idle::About& about,
                  Recorder& recorder) {
  if (recorder.writer) {
    FIELDCOST_ASSIGN(recorder.collector, MakeCollector(about.mode, target, *recorder.writer));
    return {};
  }
  about = {.mode = options.mode.value_or(idle::Mode::kBpf),
           .tick_ns = options.tick_ns,
           .why = options.mode ? "as requested" : "permitted, and exact"};
  FallBack(about);
  const Status prepared = Prepare(options, target, about, recorder);
  if (prepared || options.mode || !perf::IsRefused(prepared.error())) return prepared;
  about.mode = idle::Mode::kUnprivileged;
  about.why = fmt::format("not bpf: {}", prepared.error().message);
  FallBack(about);
  return Prepare(options, target, about, recorder);
}

// Writes the growth of /proc/stat since the previous call. A value that has decreased, as iowait
// may, counts again once it exceeds its previous maximum.
Status TakeStat(StatIdle& before, IdleWriter& writer) {
  FIELDCOST_ASSIGN(const StatIdle after, ReadStatIdle());
  const std::uint64_t now = MonotonicNs();
  for (const auto& [cpu, idle_ns] : after) {
    const auto found = before.find(cpu);
    if (found == before.end() || idle_ns < found->second) continue;
    FIELDCOST_TRY(writer.TakeStatIdle(cpu, now, idle_ns - std::exchange(found->second, idle_ns)));
  }
  return {};
}

// Records until all target processes have ended; without a command also until a signal or the time
// limit.
Status Watch(Recorder& recorder, bool is_command, Time end, StatIdle& stat) {
  perf::FlushTimer flush;
  for (;;) {
    FIELDCOST_ASSIGN(const bool some_left, recorder.collector->Look(perf::kLook));
    const Time now = std::chrono::steady_clock::now();
    if (!some_left || (!is_command && (now >= end || perf::StoppedBy() != 0))) return {};
    if (!flush.IsDue(now)) continue;
    FIELDCOST_TRY(TakeStat(stat, *recorder.writer));
    FIELDCOST_TRY(recorder.writer->Flush());
  }
}

std::string NameOf(const RecordOptions& options) {
  if (options.pid != 0) return perf::CommandOfProcess(options.pid);
  return options.all ? "all processes" : fmt::format("{}", fmt::join(options.command, " "));
}

Status RecordTarget(const RecordOptions& options, const Target& target, perf::CommandChild* child,
                    Recorder& recorder, RecordResult& result) {
  FIELDCOST_TRY(PrepareRun(options, target, result.about, recorder));
  IdleWriter& writer = *recorder.writer;
  FIELDCOST_TRY(writer.BeginRun(NameOf(options)));
  FIELDCOST_ASSIGN(StatIdle stat, ReadStatIdle());
  if (child != nullptr) child->Go();
  const Time end = perf::EndAfter(options.for_ns);
  FIELDCOST_TRY(Watch(recorder, child != nullptr, end, stat));
  FIELDCOST_TRY(TakeStat(stat, writer));
  FIELDCOST_TRY(recorder.collector->Finish());
  if (child != nullptr) {
    FIELDCOST_ASSIGN(result.status, child->Wait());
  }
  for (const auto& [name, value] : recorder.collector->Counts()) result.counts[name] += value;
  recorder.collector.reset();  // ends its threads before the next child is forked
  ++result.runs;
  return writer.EndRun(result.status);
}

Status RecordCommand(const RecordOptions& options, Recorder& recorder, RecordResult& result) {
  FIELDCOST_ASSIGN(RunInput input, perf::InputOfRuns(options.input, options.runs));
  while (result.runs < options.runs && perf::StoppedBy() == 0 && result.status == 0) {
    FIELDCOST_ASSIGN(const int read, input.Next());
    FIELDCOST_ASSIGN(perf::CommandChild child,
                     perf::CommandChild::Prepare(options.command, {}, read));
    const Target target{.kind = Target::Kind::kNextExec, .pid = child.pid()};
    FIELDCOST_TRY(RecordTarget(options, target, &child, recorder, result));
  }
  return {};
}

}  // namespace

Result<RecordResult> Record(const RecordOptions& options) {
  perf::HandleSignals();
  RecordResult result;
  Recorder recorder;
  if (options.command.empty()) {
    const Target target{.kind = options.all ? Target::Kind::kAll : Target::Kind::kRunning,
                        .pid = options.pid};
    FIELDCOST_TRY(RecordTarget(options, target, nullptr, recorder, result));
  } else {
    FIELDCOST_TRY(RecordCommand(options, recorder, result));
  }
  IdleWriter& writer = *recorder.writer;
  for (const auto& [name, value] : result.counts) FIELDCOST_TRY(writer.SetCount(name, value));
  result.idle_ns = writer.idle_ns();
  result.explained_ns = writer.explained_ns();
  result.reader_ns = ClockNs(CLOCK_PROCESS_CPUTIME_ID);
  FIELDCOST_TRY(writer.Close(options.unnamed));
  return result;
}

}  // namespace fieldcost::idle_agent

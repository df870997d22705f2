#include "agent/sampler/event_writer.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "agent/runs/tsc_calibration.h"
#include "agent/trace/event_tree.h"
#include "common/base/check.h"
#include "common/base/text.h"

namespace fieldcost::sampler {
namespace {

using trace::Arena;
using trace::ArenaModule;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kCommandNameBytes = 15;
constexpr std::size_t kMostNotMeasured = 64;  // APIs with a reason
const std::string kOthers = "bytes not measured of further functions; calls";
// By reason, shm::NotMeasured.
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 4> kReasons = {{
    {shm::kDiskInsideLibc, "libc reads or writes files by itself"},
    {shm::kNetInsideLibc, "libc uses sockets by itself"},
    {shm::kReadMapped | shm::kWrittenMapped, "a library has mapped a file"},
    {shm::kAllocInLoader, "the loader allocates for a library"},
}};
constexpr int kLeastPause = 99;  // times as long as the look before it

Result<recording::StreamId> AddStream(recording::Writer& writer, const std::string& name,
                                      const std::vector<tree::Metric>& metrics) {
  recording::Stream stream{.kind = recording::StreamKind::kSnapshots, .name = name, .metrics = {}};
  for (const tree::Metric& metric : metrics) {
    FIELDCOST_ASSIGN(const std::uint16_t added, writer.AddMetric(metric));
    stream.metrics.push_back(added);
  }
  return writer.AddStream(stream);
}

// Names code as while a program runs: by its place, from which its name is found later.
trace::NameCode NameAs(SampleWriter& recording, PlaceKind kind) {
  return [&recording, kind](const ArenaModule* module,
                            std::uint64_t address) -> Result<tree::Frame> {
    if (module == nullptr) return trace::UnnamedCode(module, address);
    const std::uint64_t at = module->VirtualAddressOf(address);
    FIELDCOST_ASSIGN(const tree::FrameId frame,
                     recording.paths().FrameAt({.module = {.kind = SampledModule::Kind::kFile,
                                                           .path = module->path,
                                                           .build_id = HexEncode(module->build_id)},
                                                .address = at,
                                                .function = at,
                                                .kind = kind}));
    return recording.dictionary().frames.frame(frame);
  };
}

}  // namespace

Result<EventWriter> EventWriter::Make(const EventOptions& options, SampleWriter& recording) {
  FIELDCOST_CHECK(options.any());
  EventWriter made(options, recording);
  made.multiplier_ = agent::CalibrateTsc();
  if (made.multiplier_ == 0) {
    return Fail(ErrorCode::kUnsupported,
                "cannot record events: this machine's time stamp counter is not usable as a clock");
  }
  const std::vector<tree::Metric> metrics = trace::EventMetrics();
  made.lacking_.resize(metrics.size());
  if (options.functions || !options.globs.empty()) {
    FIELDCOST_ASSIGN(made.events_, AddStream(recording.writer(), "events", metrics));
  }
  if (options.branches) {
    FIELDCOST_ASSIGN(made.branches_,
                     AddStream(recording.writer(), "branches", trace::BranchMetrics()));
  }
  return made;
}

Result<trace::Variables> EventWriter::BeginRun(const std::filesystem::path& directory) {
  directory_ = directory;
  sums_.clear();
  threads_.clear();
  next_look_ = Clock::now() + kEvery;
  return trace::Prepare(directory, {.library = options_.library,
                                    .functions = options_.functions,
                                    .branches = options_.branches,
                                    .globs = options_.globs,
                                    .tsc_to_ns_multiplier = multiplier_});
}

Status EventWriter::LookIfDue() {
  const auto begin = Clock::now();
  if (begin < next_look_) return {};
  FIELDCOST_TRY(Look());
  const auto end = Clock::now();
  next_look_ = end + std::max<Clock::duration>(kEvery, kLeastPause * (end - begin));
  return {};
}

Status EventWriter::EndRun() {
  FIELDCOST_TRY(Look());
  counts_["programs that outlived their run"] += sums_.size();
  for (const auto& [name, value] : counts_)
    FIELDCOST_TRY(recording_->writer().SetCount(name, value));
  return {};
}

Status EventWriter::Look() {
  FIELDCOST_ASSIGN(const trace::Arenas taken, trace::TakeArenas(directory_));
  counts_["programs whose events were not understood"] += taken.refused;
  const std::uint64_t time_ns = recording_->Now();
  for (const Arena& arena : taken.arenas) FIELDCOST_TRY(Take(arena, time_ns));
  return {};
}

Result<recording::ThreadId> EventWriter::ThreadOf(const Arena& arena) {
  if (arena.threads.size() != 1 || arena.threads[0].threads != 1) return recording::kNoThread;
  const Program program{arena.pid, arena.start_ticks};
  if (const auto known = threads_.find(program); known != threads_.end()) return known->second;
  // As the kernel calls a program that has given itself no other name.
  const std::string name =
      std::filesystem::path(arena.program).filename().string().substr(0, kCommandNameBytes);
  FIELDCOST_ASSIGN(
      const recording::ThreadId thread,
      recording_->writer().AddThread(
          {.pid = arena.pid, .tid = arena.threads[0].tid, .process = name, .name = name}));
  threads_.emplace(program, thread);
  return thread;
}

Status EventWriter::Take(const Arena& arena, std::uint64_t time_ns) {
  const Program program{arena.pid, arena.start_ticks};
  const auto [known, is_new] = sums_.try_emplace(
      program,
      Sums{tree::RunValues(lacking_.size()), tree::RunValues(trace::BranchMetrics().size())});
  Sums& before = known->second;
  FIELDCOST_ASSIGN(const recording::ThreadId thread, ThreadOf(arena));
  if (options_.functions || !options_.globs.empty()) {
    FIELDCOST_ASSIGN(
        tree::RunValues now,
        trace::EventValues(arena, NameAs(*recording_, PlaceKind::kCode), recording_->dictionary()));
    FIELDCOST_TRY(Append(events_, time_ns, thread, before.events, now));
    before.events = std::move(now);
  }
  if (options_.branches) {
    FIELDCOST_ASSIGN(tree::RunValues now,
                     trace::BranchValues(arena, NameAs(*recording_, PlaceKind::kBlock),
                                         recording_->dictionary()));
    FIELDCOST_TRY(Append(branches_, time_ns, thread, before.branches, now));
    before.branches = std::move(now);
  }
  if (arena.still_runs) return {};
  Count(arena);
  sums_.erase(known);
  return {};
}

Status EventWriter::Append(recording::StreamId stream, std::uint64_t time_ns,
                           recording::ThreadId thread, const tree::RunValues& before,
                           const tree::RunValues& now) {
  std::size_t paths = 0;
  for (std::size_t i = 0; i < now.metrics(); ++i) paths = std::max(paths, now.column(i).size());
  std::vector<std::uint64_t> grown(now.metrics());
  for (std::uint32_t path = 0; path < paths; ++path) {
    bool any = false;
    for (std::size_t i = 0; i < grown.size(); ++i) {
      const std::uint64_t value = now.value(i, tree::PathId(path));
      const std::uint64_t then = before.value(i, tree::PathId(path));
      grown[i] = value - std::min(value, then);
      any = any || grown[i] != 0;
    }
    if (any) FIELDCOST_TRY(recording_->Append(stream, time_ns, tree::PathId(path), grown, thread));
  }
  return {};
}

// Notes, for each API and reason, of how many calls the bytes are not known.
void EventWriter::CountNotMeasured(const Arena& arena) {
  const auto add = [&](const std::string& whose, std::uint32_t reasons, std::uint64_t value) {
    for (const auto& [bits, why] : kReasons) {
      if ((reasons & bits) == 0) continue;
      const std::string name = fmt::format("bytes not measured of {}: {}; calls", whose, why);
      const bool has_room = not_measured_.size() < kMostNotMeasured || not_measured_.contains(name);
      const std::string& kept = has_room ? *not_measured_.insert(name).first : kOthers;
      counts_[kept] += value;
    }
  };
  for (const trace::ArenaNode& node : arena.nodes) {
    if (node.not_measured == 0) continue;
    const bool is_api = node.api != trace::kNone;
    add(is_api ? EscapeControl(arena.apis[node.api].symbol) : "functions without an API's name",
        node.not_measured, std::max<std::uint64_t>(node.calls, 1));
  }
  if (arena.not_measured != 0) add("all functions", arena.not_measured, 1);
}

void EventWriter::Count(const Arena& arena) {
  CountNotMeasured(arena);
  for (std::size_t i = 0; i < lacking_.size(); ++i) {
    if (!trace::IsMeasured(arena, i)) lacking_[i] = true;
  }
  const trace::ArenaLosses& losses = arena.losses;
  counts_["events lost"] += losses.events + losses.calls + losses.moved_calls + losses.edges;
  counts_["calls counted in their caller"] += losses.folded_calls;
  counts_["exits without an entry"] += losses.unmatched_exits;
  counts_["times the clock went back"] += losses.clock_steps;
  counts_["APIs left out"] += losses.left_out;
  counts_["programs that left their events early"] += arena.attached ? 0 : 1;
}

std::vector<std::string> EventWriter::unmeasured() const {
  std::vector<std::string> names;
  const std::vector<tree::Metric> metrics = trace::EventMetrics();
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (lacking_[i]) names.push_back(metrics[i].name);
  }
  return names;
}

}  // namespace fieldcost::sampler

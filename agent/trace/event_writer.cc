#include "agent/trace/event_writer.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "agent/events/event_tree.h"
#include "agent/runs/tsc_calibration.h"
#include "common/base/check.h"
#include "common/base/text.h"

namespace fieldcost::trace {
namespace {

using events::Arena;
using events::ArenaModule;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kCommandNameBytes = 15;
constexpr std::size_t kMostNotMeasured = 64;  // maximum number of APIs with a reason
const std::string kOthers = "bytes not measured of further functions; calls";
// Texts by reason (shm::NotMeasured).
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 4> kReasons = {{
    {shm::kDiskInsideLibc, "libc reads or writes files by itself"},
    {shm::kNetInsideLibc, "libc uses sockets by itself"},
    {shm::kReadMapped | shm::kWrittenMapped, "a library has mapped a file"},
    {shm::kAllocInLoader, "the loader allocates for a library"},
}};
constexpr int kLeastPause = 99;  // minimum pause, as a multiple of the previous reading's duration

Result<recording::StreamId> AddStream(recording::Writer& writer, const std::string& name,
                                      const std::vector<tree::Metric>& metrics) {
  recording::Stream stream{.kind = recording::StreamKind::kSnapshots, .name = name, .metrics = {}};
  for (const tree::Metric& metric : metrics) {
    FIELDCOST_ASSIGN(const std::uint16_t added, writer.AddMetric(metric));
    stream.metrics.push_back(added);
  }
  return writer.AddStream(stream);
}

// Names code provisionally by its place; the real name is looked up after the recording.
events::NameCode NameAs(SampleWriter& recording, perf::PlaceKind kind) {
  return [&recording, kind](const ArenaModule* module,
                            std::uint64_t address) -> Result<tree::Frame> {
    if (module == nullptr) return events::UnnamedCode(module, address);
    const std::uint64_t at = module->VirtualAddressOf(address);
    FIELDCOST_ASSIGN(const tree::FrameId frame,
                     recording.paths().FrameAt({.module = {.kind = perf::SampledModule::Kind::kFile,
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
  made.multiplier_ = runs::CalibrateTsc();
  if (made.multiplier_ == 0) {
    return Fail(ErrorCode::kUnsupported,
                "cannot record events: this machine's time stamp counter is not usable as a clock");
  }
  const std::vector<tree::Metric> metrics = events::EventMetrics();
  made.lacking_.resize(metrics.size());
  if (options.functions || !options.globs.empty()) {
    FIELDCOST_ASSIGN(made.events_, AddStream(recording.writer(), "events", metrics));
  }
  if (options.branches) {
    FIELDCOST_ASSIGN(made.branches_,
                     AddStream(recording.writer(), "branches", events::BranchMetrics()));
  }
  return made;
}

Result<events::Variables> EventWriter::BeginRun(const std::filesystem::path& directory) {
  directory_ = directory;
  known_.clear();
  programs_.clear();
  listed_ = nullptr;
  next_look_ = SteadyClock::now() + kEvery;
  return events::Prepare(directory, {.library = options_.library,
                                     .functions = options_.functions,
                                     .branches = options_.branches,
                                     .globs = options_.globs,
                                     .data_slots = options_.function_pointers,
                                     .tsc_to_ns_multiplier = multiplier_});
}

Status EventWriter::LookIfDue() {
  const auto begin = SteadyClock::now();
  if (begin < next_look_) return {};
  FIELDCOST_TRY(Look());
  const auto end = SteadyClock::now();
  next_look_ = end + std::max<SteadyClock::duration>(kEvery, kLeastPause * (end - begin));
  return {};
}

Status EventWriter::EndRun() {
  FIELDCOST_TRY(Look());
  counts_["programs that outlived their run"] += known_.size();
  for (const auto& [name, value] : counts_)
    FIELDCOST_TRY(recording_->writer().SetCount(name, value));
  return {};
}

Status EventWriter::Look() {
  FIELDCOST_ASSIGN(const events::Arenas taken, events::TakeArenas(directory_));
  counts_["programs whose events were not understood"] += taken.refused;
  const std::uint64_t time_ns = recording_->Now();
  for (const Arena& arena : taken.arenas) programs_.emplace(arena.pid, arena.start_ticks);
  for (const Arena& arena : taken.arenas) FIELDCOST_TRY(Take(arena, time_ns));
  return {};
}

// The list has the threads of the process's last program. Threads of an earlier program get that
// program's name, which is the kernel's unless the program has set another.
Result<recording::ThreadId> EventWriter::ThreadOf(const Arena& arena, std::uint32_t tid) {
  const std::string name =
      std::filesystem::path(arena.program).filename().string().substr(0, kCommandNameBytes);
  if (listed_ != nullptr) {
    const std::uint32_t index = listed_->Of(static_cast<pid_t>(arena.pid), static_cast<pid_t>(tid));
    const SampledThread& listed = listed_->all()[index];
    const auto next = programs_.upper_bound({arena.pid, arena.start_ticks});
    const bool is_last = next == programs_.end() || next->first != arena.pid;
    if (is_last && !listed.name.empty() && listed.pid == static_cast<pid_t>(arena.pid)) {
      return recording_->ThreadAt(index, *listed_);
    }
  }
  return recording_->writer().AddThread(
      {.pid = arena.pid, .tid = tid, .process = name, .name = name});
}

// If several threads have used a slot since the last reading, its growth belongs to no known
// thread.
Status EventWriter::TakeThreads(const Arena& arena, Known& known) {
  for (const events::ArenaThread& thread : arena.threads) {
    const auto [at, is_new] = known.slots.try_emplace(thread.slot);
    Slot& slot = at->second;
    slot.is_one = thread.threads == (slot.threads_before == 0 ? 1 : slot.threads_before);
    if (is_new || slot.tid != thread.tid) {
      slot.tid = thread.tid;
      FIELDCOST_ASSIGN(slot.thread, ThreadOf(arena, thread.tid));
    }
    slot.threads_before = thread.threads_before;
  }
  return {};
}

Status EventWriter::Take(const Arena& arena, std::uint64_t time_ns) {
  const auto at = known_.try_emplace({arena.pid, arena.start_ticks}).first;
  Known& known = at->second;
  FIELDCOST_TRY(TakeThreads(arena, known));
  Sums now;
  const auto add = [&](std::uint16_t slot, tree::PathId path,
                       std::span<const std::uint64_t> values) -> Status {
    Values& sums = now[{slot, path}];
    for (std::size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
    return {};
  };
  if (options_.functions || !options_.globs.empty()) {
    FIELDCOST_TRY(events::ForEachEvent(arena, NameAs(*recording_, perf::PlaceKind::kCode),
                                       recording_->dictionary(), add));
    FIELDCOST_TRY(Append(events_, time_ns, known, known.events, now));
    known.events = std::exchange(now, Sums());
  }
  if (options_.branches) {
    FIELDCOST_TRY(events::ForEachBranch(arena, NameAs(*recording_, perf::PlaceKind::kBlock),
                                        recording_->dictionary(), add));
    FIELDCOST_TRY(Append(branches_, time_ns, known, known.branches, now));
    known.branches = std::move(now);
  }
  if (arena.still_runs) return {};
  Count(arena);
  known_.erase(at);
  return {};
}

Status EventWriter::Append(recording::StreamId stream, std::uint64_t time_ns, const Known& known,
                           const Sums& before, const Sums& now) {
  const std::size_t metrics =
      stream == branches_ && options_.branches ? events::BranchMetrics().size() : lacking_.size();
  auto then = before.begin();
  for (const auto& [key, values] : now) {
    while (then != before.end() && then->first < key) ++then;
    Values grown = values;
    if (then != before.end() && then->first == key) {
      for (std::size_t i = 0; i < grown.size(); ++i)
        grown[i] -= std::min(grown[i], then->second[i]);
    }
    if (std::ranges::all_of(grown, [](std::uint64_t value) { return value == 0; })) continue;
    const auto slot = known.slots.find(key.first);
    const bool is_one = slot != known.slots.end() && slot->second.is_one;
    FIELDCOST_TRY(recording_->Append(stream, time_ns, key.second, std::span(grown).first(metrics),
                                     is_one ? slot->second.thread : recording::kNoThread));
  }
  return {};
}

// Counts, for each API and reason, the calls whose bytes are not measured.
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
  for (const events::ArenaNode& node : arena.nodes) {
    if (node.not_measured == 0) continue;
    const bool is_api = node.api != events::kNone;
    add(is_api ? EscapeControl(arena.apis[node.api].symbol) : "functions without an API's name",
        node.not_measured, std::max<std::uint64_t>(node.calls, 1));
  }
  if (arena.not_measured != 0) add("all functions", arena.not_measured, 1);
}

void EventWriter::NoteCalled(const Arena& arena) {
  if (options_.globs.empty()) return;
  for (const events::ArenaNode& node : arena.nodes) {
    if (node.api >= arena.apis.size() || node.calls == 0) continue;
    const events::ArenaApi& api = arena.apis[node.api];
    if (api.module >= arena.modules.size()) continue;
    const events::ArenaModule& module = arena.modules[api.module];
    const std::string library = module.soname.empty()
                                    ? std::filesystem::path(module.path).filename().string()
                                    : module.soname;
    called_.insert(fmt::format("{}!{}", library, api.symbol));
  }
}

std::vector<std::string> EventWriter::uncalled() const {
  std::vector<std::string> globs;
  for (const std::string_view glob : Split(options_.globs, ",")) {
    if (glob.empty() || glob.find("!_Z") != std::string_view::npos) continue;
    const auto is_meant = [&](const std::string& name) { return GlobMatch(glob, name); };
    if (std::ranges::none_of(called_, is_meant)) globs.emplace_back(glob);
  }
  return globs;
}

void EventWriter::Count(const Arena& arena) {
  CountNotMeasured(arena);
  NoteCalled(arena);
  for (std::size_t i = 0; i < lacking_.size(); ++i) {
    if (!events::IsMeasured(arena, i)) lacking_[i] = true;
  }
  const events::ArenaLosses& losses = arena.losses;
  counts_["events lost"] += losses.events + losses.calls + losses.moved_calls + losses.edges;
  counts_["calls counted in their caller"] += losses.folded_calls;
  counts_["exits without an entry"] += losses.unmatched_exits;
  counts_["times the clock went back"] += losses.clock_steps;
  counts_["APIs left out"] += losses.left_out;
  counts_["programs that left their events early"] += arena.attached ? 0 : 1;
}

std::vector<std::string> EventWriter::unmeasured() const {
  std::vector<std::string> names;
  const std::vector<tree::Metric> metrics = events::EventMetrics();
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (lacking_[i]) names.push_back(metrics[i].name);
  }
  return names;
}

}  // namespace fieldcost::trace

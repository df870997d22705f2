#include "agent/preload/measuring_run.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/intercept/alloc_wrappers.h"
#include "agent/intercept/cycle_clock.h"
#include "agent/intercept/hidden_io.h"
#include "agent/intercept/hosts.h"
#include "agent/intercept/io_wrappers.h"
#include "agent/intercept/map_wrappers.h"
#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/notice.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/slots.h"
#include "agent/intercept/text_builder.h"
#include "agent/intercept/wrappers.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/preload/candidates.h"
#include "agent/preload/load.h"
#include "agent/preload/measuring.h"
#include "agent/preload/picks.h"
#include "agent/preload/preload_calibration.h"
#include "agent/preload/preload_workspace.h"
#include "agent/preload/run_file_writer.h"
#include "agent/preload/sightings.h"
#include "common/shm/mix.h"

namespace fieldcost::preload {
namespace {

using intercept::InstallWrappers;
using intercept::Objects;
using intercept::PatchLock;
using intercept::SlotSpace;

constexpr uint64_t kNever = ~uint64_t{0};

// The state that all phases of the run share, in addition to the process's picks. There is one per
// process, like `process` itself: later phases, and libraries that are loaded and unloaded, are
// handled inside the program's calls (agent/intercept/hooks.h), which pass no argument of ours.
struct MeasuringRun {
  RunRequest* request;  // with its newest policy
  uint64_t random_state;
  uint32_t phases;  // begun so far, of those that the policy allows

  uint64_t Random() { return shm::NextRandom(&random_state); }
};
MeasuringRun run;

// Maps private memory for the threads' states, and the page that a fork wipes.
bool MakeThreads() {
  void* const mapped = intercept::MapPrivate(sizeof(ThreadState) * shm::kThreadSlots);
  if (mapped == nullptr) return false;
  if (!intercept::KnowHost()) {
    munmap(mapped, sizeof(ThreadState) * shm::kThreadSlots);
    return false;
  }
  // Faster than page faults of the first thread, which does the calibration.
  intercept::Populate(reinterpret_cast<uint64_t>(mapped), sizeof(ThreadState));
  process.threads = static_cast<ThreadState*>(mapped);
  return true;
}

// Draws which metrics this run records, for all of its picks.
shm::MetricSet DrawMetrics(const shm::PolicyHeader& policy, uint64_t random) {
  shm::MetricSet metrics = shm::kTimeMetrics;
  if ((random & 0xffff) < policy.alloc_per_65536) metrics |= shm::kAllocMetrics;
  const uint64_t draw = (random >> 16) & 0xffff;
  // Querying a descriptor's type takes time that belongs to no API: I/O is recorded alone.
  if (draw < policy.io_per_65536) return shm::kIoMetrics;
  if (draw < uint64_t{policy.io_per_65536} + policy.cycles_per_65536) {
    metrics |= shm::kCycleMetrics;
  }
  return metrics;
}

uint32_t IndexOf(shm::Metric metric) {
  return static_cast<uint32_t>(__builtin_popcount(process.metrics & (shm::BitOf(metric) - 1)));
}

void SetMetrics(shm::MetricSet metrics) {
  process.metrics = metrics;
  process.cycles_index = IndexOf(shm::Metric::kCpuCycles);
  process.alloc_index = IndexOf(shm::Metric::kAllocInclusive);
  process.io_index = IndexOf(shm::Metric::kDiskRead);
}

// True if picks are drawn among the functions that are called.
bool IsWatchingRun() { return !run.request->is_forced() && !run.request->is_only_asked(); }

uint32_t WantedPlaces() {
  const uint32_t wanted = run.request->wanted_picks();
  return wanted < shm::kMaxPlaces ? wanted : shm::kMaxPlaces;
}

// Number of picks that a phase may make: if 256 functions are called one after the other, 6 of them
// take a place on average, and more than 16 with a probability below 1 in 20,000.
uint32_t PicksOfAPhase() { return 16 + 4 * (WantedPlaces() - 1); }

// Room for the picks of all phases, or for matches by name in libraries that dlopen may still load.
uint32_t PickCapacity() {
  constexpr uint32_t kForcedReserve = 64;
  uint64_t capacity = workspace->drawn.count + kForcedReserve;
  const uint64_t most = run.request->is_forced() ? shm::kMaxPicks : kFirstWatchThunk;
  if (IsWatchingRun()) {
    capacity = uint64_t{PicksOfAPhase()} * run.request->policy.max_phases;
  } else if (!run.request->is_forced()) {
    capacity = uint64_t{run.request->wanted_picks()} * run.request->policy.max_phases;
  }
  return static_cast<uint32_t>(capacity > most ? most : capacity);
}

uint64_t PhaseEnd(uint64_t now) {
  const uint64_t seconds = run.request->policy.phase_seconds;
  if (seconds == 0 || run.request->is_forced() || !intercept::VectorState::IsSupported())
    return kNever;
  return now + intercept::TicksOf(seconds * 1000000000, process.ticks_to_ns);  // below 2^62
}

// Adds the drawn APIs to the run and redirects the program's calls to their stubs.
void MeasureDrawn(const SlotSpace& space) {
  for (uint32_t i = 0; i < workspace->drawn.count; ++i) {
    AddPick(workspace->drawn.candidates[i], run.request->policy.sampling_log2);
  }
  PatchPicks(space, 0);
}

// Does everything except creating the run file.
bool PrepareMeasuring() {
  if (!MakeThreads()) return false;
  // Until the run file exists, losses are not counted anywhere.
  static shm::RunHeader no_header;
  process.header = &no_header;
  process.ticks_to_ns = run.request->policy.tsc_to_ns_multiplier;
  process.look_at = kNever;
  fieldcost_attached[0] = 1;
  Calibrate();
  SetMetrics(run.request->says_metrics() ? run.request->metrics
                                         : DrawMetrics(run.request->policy, run.Random()));
  process.overhead_per_65536 =
      run.request->is_forced() ? 0 : run.request->policy.overhead_per_65536;
  process.look_at = PhaseEnd(intercept::ReadTimeStamp());
  return true;
}

// The run file is created with the first pick: functions requested by name may be loaded later or
// never.
shm::Skip MakeRunFile(uint64_t random) {
  if (process.pick_capacity != 0) return kNoSkip;
  process.pick_capacity = PickCapacity();
  const shm::Skip skip = CreateRunFile(*run.request, random);
  if (skip != kNoSkip) process.pick_capacity = 0;
  return skip;
}

void InstallMeters(const SlotSpace& space) {
  const bool waits = process.look_at != kNever;
  intercept::InstallWrappersInSlots(
      intercept::kNotices, waits ? intercept::kNoticeCount : size_t{intercept::kFirstWaitNotice},
      space, 0);
  if ((process.metrics & shm::kAllocMetrics) != 0) {
    InstallWrappers(intercept::kAllocFunctions, intercept::kAllocFunctionCount, space, 0);
  }
  if ((process.metrics & shm::kIoMetrics) != 0) {
    InstallWrappers(intercept::kIoFunctions, intercept::kIoFunctionCount, space, 0);
    intercept::InstallHiddenIo(space);
    InstallWrappers(intercept::kMapFunctions, intercept::kMapFunctionCount, space, 0);
  }
}

void LeaveDynamicObjects() {
  LeaveWatchedDynamicObjects();  // while these objects are still known
  intercept::LeaveDynamicObjects(process.pick_count, [](uint32_t pick) {
    if (run.request->is_forced()) {
      SuspendPick(pick);
    } else {
      EndPick(pick, shm::kPickEnded);
    }
  });
}

// Forgets libraries that were unloaded by code whose calls are not intercepted.
void ForgetWhatIsGone() {
  if (intercept::IsAnyDynamicObjectGone()) LeaveDynamicObjects();
}

// Sets the properties shared by all picks of a phase that begins.
void DescribePhase(uint32_t flags, const MachineLoad& load) {
  if (IsMuch(run.request->policy, load)) flags |= shm::kPickBusy;
  process.phase_flags = flags;
  process.phase_selection_per_65536 = run.request->policy.selection_per_65536;
}

void EndPhase() {
  StopWatching();
  for (uint32_t i = 0; i < process.pick_count; ++i) EndPick(i, shm::kPickEnded);
  GiveBackLease();
}

// Returns whether there is a place among the programs that are measured at the same time. A run
// that is measured only for its user takes none: it would displace field runs.
bool HoldsPlace(const RunRequest& request) {
  return request.is_forced() || request.is_only_asked() || TakeLease(request);
}

void Watch(const SlotSpace& space, uint64_t random) {
  BeginWatching(*run.request, space, random, WantedPlaces());
  ++run.phases;
}

// Returns whether the policy and the run file have room for another phase.
bool IsRoomForAPhase() {
  const uint32_t room = process.pick_capacity - process.pick_count;
  if (!IsWatchingRun()) return room != 0;
  return room >= PicksOfAPhase() && run.phases < run.request->policy.max_phases;
}

void TryNextPhase() {
  if (!LoadPolicy(run.request) || !IsCollecting(run.request->policy)) return;
  process.overhead_per_65536 = run.request->policy.overhead_per_65536;
  const bool is_chosen = (run.Random() >> 48) < run.request->policy.selection_per_65536;
  if (!is_chosen && !run.request->is_only_asked()) return;
  const MachineLoad load = ReadMachineLoad();
  if (!run.request->is_only_asked() && IsTooMuch(run.request->policy, load)) return;
  DescribePhase(shm::kPickLater, load);
  if (!HoldsPlace(*run.request)) return CountSkip(*run.request, shm::Skip::kNoLease);
  const SlotSpace space = Objects(false);
  if (IsWatchingRun()) {
    Watch(space, run.Random());
    return;
  }
  const uint32_t room = process.pick_capacity - process.pick_count;
  const uint32_t wanted = run.request->wanted_picks();
  PickAtRandom(*run.request, space, run.Random(), wanted < room ? wanted : room, &workspace->drawn);
  MeasureDrawn(space);
}

void Detach() {
  __atomic_store_n(fieldcost_attached, 0, __ATOMIC_SEQ_CST);
  process.header->attached = 0;
}

void LeaveAlone(shm::Skip reason) {
  StopWatching();  // or all watched functions would lead to stubs for the life of the process
  GiveBackLease();
  CountSkip(*run.request, reason);
}

// Makes the first draw, into the workspace. Functions requested by name may not be loaded yet.
shm::Skip DrawFirstPicks(const SlotSpace& space, uint64_t random) {
  const RunRequest& request = *run.request;
  Picks* const drawn = &workspace->drawn;
  if (request.is_forced()) {
    FindCalledSlotsByName(request, space, 0);
    PickByName(request, space, 0, drawn);
    if (drawn->left_out) CountSkip(request, shm::Skip::kPicksLeftOut);
    return kNoSkip;
  }
  if (AreTooManyRunFiles(request)) return shm::Skip::kTooManyRunFiles;
  if (!HoldsPlace(request)) return shm::Skip::kNoLease;
  if (IsWatchingRun()) {  // begins once the run file and the meters exist
    return IsAnythingToWatch(request, space, random, WantedPlaces()) ? kNoSkip
                                                                     : shm::Skip::kNothingToPick;
  }
  PickAtRandom(request, space, random >> 32 | random << 32, request.wanted_picks(), drawn);
  return drawn->count == 0 ? shm::Skip::kNothingToPick : kNoSkip;
}

// A run that cannot be measured for the field, so that nothing would be sent, is still measured for
// the user who requested it. The reason is counted nevertheless.
bool IsServedAnyway(RunRequest* request, shm::Skip reason) {
  if (!request->is_asked || !request->is_chosen || request->is_forced()) return false;
  if (reason != shm::Skip::kNothingToPick) CountSkip(*request, reason);
  request->is_chosen = false;
  GiveBackLease();
  return true;
}

shm::Skip BeginRunInWorkspace(uint64_t random) {
  intercept::ListObjectsAtStart(run.request->policy.data_slots != 0);
  if (intercept::HasSanitizer()) return shm::Skip::kSanitizer;
  if (intercept::HasCollector(0)) return shm::Skip::kCollector;
  intercept::LookForStackCopier(0);

  const SlotSpace space = Objects(true);
  shm::Skip skip = DrawFirstPicks(space, random);
  if (skip != kNoSkip && IsServedAnyway(run.request, skip)) skip = DrawFirstPicks(space, random);
  if (skip != kNoSkip) return skip;

  if (!PrepareMeasuring()) return shm::Skip::kNoMemory;
  if (workspace->drawn.count != 0 || IsWatchingRun()) {
    skip = MakeRunFile(random);
    if (skip != kNoSkip) return skip;
  }

  InstallMeters(space);
  MeasureDrawn(space);
  if (IsWatchingRun()) Watch(space, random >> 32 | random << 32);
  process.has_begun = 1;
  return kNoSkip;
}

// Reverts the preparations for a run that does not begin.
void Undo() {
  fieldcost_attached[0] = 0;
  GiveBackLease();
  ReleasePolicy(run.request);
  DropWorkspace();
}

// Picks functions requested by name that were loaded with the objects from `first_new` on.
void PickWhatCame(const SlotSpace& space, uint32_t first_new) {
  Picks* const drawn = &workspace->drawn;
  PickByName(*run.request, space, first_new, drawn);
  drawn->count = RemoveKnownPicks(drawn);
  if (drawn->count != 0 && MakeRunFile(run.Random()) == kNoSkip) MeasureDrawn(space);
}

// Objects were loaded, which a requested run includes as well. No earlier pick is given up for
// them.
void PickMore(const SlotSpace& space) {
  constexpr uint32_t kMorePicks = 8;
  const uint32_t room = process.pick_capacity - process.pick_count;
  Picks* const drawn = &workspace->drawn;
  PickAtRandom(*run.request, space, run.Random(), room < kMorePicks ? room : kMorePicks, drawn);
  drawn->count = RemoveKnownPicks(drawn);
  MeasureDrawn(space);
}

// The loader's allocations for a library, and those of the library's constructors before its slots
// were patched, are missing in the call that loaded it.
void NoteLoading() {
  const ThreadState* const thread = fieldcost_current_thread;
  if ((process.metrics & shm::kAllocMetrics) == 0 || thread == nullptr) return;
  if (thread->active == nullptr) return;
  const Record* const record = RecordOf(thread->active);
  AddNotMeasured(process.picks[PickOf(*record)].shared, shm::kAllocInLoader);
}

// Includes a new library: the objects from `first_new` on.
void TakeIn(const SlotSpace& space, uint32_t first_new) {
  NoteLoading();
  if (intercept::HasCollector(first_new)) {
    Detach();
    return LeaveAlone(shm::Skip::kCollector);
  }
  intercept::LookForStackCopier(first_new);
  intercept::InstallWrappersAgain(space, first_new);
  if (run.request->is_forced()) FindCalledSlotsByName(*run.request, space, first_new);
  PatchPicks(space, first_new);
  if (run.request->is_forced()) {
    PickWhatCame(space, first_new);
  } else if (run.request->is_only_asked()) {
    PickMore(space);
  } else {
    WatchMore(*run.request, space, first_new);
  }
}

}  // namespace

shm::Skip BeginRun(RunRequest* request, uint64_t random) {
  run = {.request = request, .random_state = random};
  if (!request->is_forced()) {
    const MachineLoad load = ReadMachineLoad();
    // A requested run is measured now, and its result does not belong to the field.
    if (IsTooMuch(request->policy, load) && !request->is_only_asked() &&
        !IsServedAnyway(request, shm::Skip::kSystemLoaded)) {
      return shm::Skip::kSystemLoaded;
    }
    DescribePhase(0, load);
  }
  if (!MakeWorkspace()) return shm::Skip::kTightLimits;
  const shm::Skip skip =
      LoadPolicy(request) ? BeginRunInWorkspace(random) : shm::Skip::kPolicyUnusable;
  if (skip != kNoSkip) Undo();
  return skip;
}

__attribute__((cold, noinline)) void EndPhaseAndRedraw(uint64_t now) {
  const PatchLock lock;
  if (!lock.held() || now < process.look_at) return;
  alignas(64) static char buffer[intercept::kVectorStateBytes];
  const intercept::VectorState vectors(buffer);  // a measured call's result may be in them
  ForgetWhatIsGone();
  EndPhase();
  if (!IsRoomForAPhase()) {
    process.look_at = kNever;
    return;
  }
  process.look_at = PhaseEnd(now);
  TryNextPhase();
}

__attribute__((cold, noinline)) uint32_t SeeFirstCall(uint32_t thunk) {
  const PatchLock lock;
  if (lock.held()) return OnSighting(*run.request, thunk);
  // Not sighted: its next call will be. This one is lost.
  __atomic_fetch_add(&process.header->lost_calls, 1, __ATOMIC_RELAXED);
  return kNoPick;
}

void SamplePick(uint32_t pick, uint32_t sampling_log2) {
  const PatchLock lock;
  if (lock.held()) SetSampling(pick, sampling_log2);
}

void DropPick(uint32_t pick) {
  const PatchLock lock;
  if (!lock.held()) return;
  EndPick(pick, shm::kPickDropped);
  // Watched functions may still be picked.
  if (!IsAnyPickActive() && !IsWatchingRun()) GiveBackLease();
}

__attribute__((cold, noinline)) void DetachForGood(shm::Skip reason) {
  Detach();
  const PatchLock lock;
  if (lock.held()) LeaveAlone(reason);
}

__attribute__((cold, noinline)) void OnLibraryLoaded(void* handle) {
  intercept::TakeInLibrary(handle, LeaveDynamicObjects, TakeIn);
}

__attribute__((cold, noinline)) void OnLibraryMayGo() {
  intercept::LeaveLibrary(LeaveDynamicObjects);
}

}  // namespace fieldcost::preload

#include "agent/probe_preload/probe_targets.h"

#include <string.h>

#include "agent/intercept/functions.h"
#include "agent/intercept/hooks.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/plan_directory.h"
#include "agent/intercept/targets.h"
#include "agent/intercept/text_builder.h"
#include "agent/intercept/thunk.h"
#include "agent/intercept/wrappers.h"
#include "agent/probe_preload/automatic.h"
#include "agent/probe_preload/modules.h"
#include "agent/probe_preload/probe_plan_reader.h"
#include "agent/probe_preload/probe_run.h"

namespace fieldcost::probe_preload {
namespace {

using intercept::ElfObject;
using intercept::Function;
using intercept::kNoThunk;
using intercept::SlotSpace;

intercept::TargetTable table;  // by address
uint32_t main_target = kNoThunk;

// Returns the place of the number of the target with this address; if there is none, the place to
// store it.
uint16_t* Find(uint64_t address) {
  return table.Find((address >> 4) * 0x9e3779b97f4a7c15U, [address](uint32_t target) {
    return process.targets[target].address == address;
  });
}

uint32_t NewTarget() {
  return intercept::target_count == intercept::kThunkCount ? kNoThunk : intercept::target_count++;
}

// Finds the points of the plan that name the function; returns how many.
uint32_t PointsOf(const char* module, const char* symbol, uint16_t (&points)[kPointsOfTarget]) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < Plan().point_count && count < kPointsOfTarget; ++i) {
    if (!intercept::NamesApi(PlanPoint(i).pattern, module, symbol)) continue;
    points[count++] = static_cast<uint16_t>(i + 1);
  }
  return count;
}

struct Found {
  uint64_t address = 0;
  const char* module = nullptr;
  const char* symbol = nullptr;
  const AutomaticFunction* automatic = nullptr;
  uint16_t points[kPointsOfTarget] = {};
};

// Returns the function that a slot leads to, if it has a point.
bool Follow(const SlotSpace& space, const ElfObject& importer, const Elf64_Rela& relocation,
            const uint64_t* slot, Found* found) {
  const char* const name = intercept::NameOf(importer, relocation);
  found->automatic = AutomaticCalled(name);
  if (found->automatic != nullptr) {
    found->address = intercept::TargetOf(space, importer, relocation, slot);
    if (found->address == 0 ||
        !intercept::IsDefinition(space.objects, space.object_count, name, found->address)) {
      found->automatic = nullptr;
    }
  }
  Function function;
  if (Plan().point_count != 0 &&
      intercept::FollowSlot(space, importer, relocation, slot, &function)) {
    if (*function.module == '\0') function.module = intercept::ProgramName();
    if (PointsOf(function.module, function.symbol, found->points) != 0) {
      found->address = function.target;
      found->module = function.module;
      found->symbol = function.symbol;
      return true;
    }
  }
  return found->automatic != nullptr;
}

// Reports to the reader that the point was placed.
void WritePlaced(uint32_t point) {
  __atomic_fetch_or(&process.header->placed[point / 64], uint64_t{1} << (point % 64),
                    __ATOMIC_RELAXED);
}

// The same, unless this is a child of fork() without a run of its own: it has no file, and its
// later one is written by KeepPlaced().
void MarkPlaced(uint32_t point) {
  if (Attached() != 0) WritePlaced(point);
}

uint32_t TargetFor(const Found& found) {
  const uint64_t address = intercept::WrapperOf(found.address);
  uint16_t* const place = Find(address);
  if (*place == 0) {
    const uint32_t made = NewTarget();
    if (made == kNoThunk) return kNoThunk;
    process.targets[made].address = address;
    *place = static_cast<uint16_t>(made + 1);
  }
  Target& target = process.targets[*place - 1U];
  if (found.automatic != nullptr) {
    target.look = found.automatic->look;
    target.automatic = found.automatic->point;
  }
  if (found.points[0] == 0) return *place - 1U;
  for (uint32_t i = 0; i < kPointsOfTarget && found.points[i] != 0; ++i) {
    target.points[i] = found.points[i];
    MarkPlaced(found.points[i] - 1U);
    const uint16_t when = PlanPoint(found.points[i] - 1U).when;
    if ((when & shm::kProbeReturn) != 0) target.takes_return = 1;
  }
  target.module = found.module;
  __atomic_store_n(&target.symbol, found.symbol, __ATOMIC_RELEASE);
  return *place - 1U;
}

}  // namespace

void KeepPlaced() {
  for (uint32_t i = 0; i < intercept::target_count; ++i) {
    for (const uint16_t point : process.targets[i].points) {
      if (point != 0) WritePlaced(point - 1U);
    }
  }
}

__attribute__((cold)) void StandBeforeMain(uint64_t* main_address) {
  const intercept::PatchLock lock;
  if (!lock.held() || main_target != kNoThunk) return;
  const uint32_t made = NewTarget();
  if (made == kNoThunk) return;
  Target& target = process.targets[made];
  target.address = *main_address;
  target.automatic = shm::kProbeMain;
  target.look = kMain;
  target.takes_return = (Plan().automatic & shm::kProbeExit) != 0 ? 1 : 0;
  main_target = made;
  *main_address = intercept::StubOf(made);
}

__attribute__((cold)) void LeaveOutputFunctions() {
  const intercept::PatchLock lock;
  if (!lock.held()) return;
  for (uint32_t i = 0; i < intercept::target_count; ++i) {
    const Target& target = process.targets[i];
    if (target.automatic != shm::kProbeFirstOutput || target.points[0] != 0) continue;
    intercept::RetargetThunk(i, target.address, false);
  }
}

}  // namespace fieldcost::probe_preload

namespace fieldcost::intercept {

void Detach() { probe_preload::DetachRun(); }

bool KeepsRecords() { return probe_preload::PlanTakesReturns(); }

void DescribeObjects(uint32_t first_object) { probe_preload::AddModules(first_object); }

void StandBeforeCalls(const SlotSpace& space, uint32_t first_object) {
  PatchSlots(
      space, first_object, true,
      [&space](const ElfObject& importer, const Elf64_Rela& relocation, const uint64_t* slot) {
        probe_preload::Found found;
        return probe_preload::Follow(space, importer, relocation, slot, &found)
                   ? probe_preload::TargetFor(found)
                   : kNoThunk;
      });
}

// Probe points do not need these.
void OnAllocation(const void*, size_t, uint64_t) {}
size_t SizeOfBlock(const void*) { return 0; }
void OnFree(size_t) {}
bool StopCountingAllocations() { return false; }
void CountAllocationsAgain() {}
void OnTransfer(int, int, uint64_t) {}
void OnFileMapped(int, uint32_t) {}

}  // namespace fieldcost::intercept

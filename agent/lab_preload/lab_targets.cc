#include "agent/lab_preload/lab_targets.h"

#include <string.h>

#include "agent/intercept/alloc_wrappers.h"
#include "agent/intercept/functions.h"
#include "agent/intercept/hidden_io.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/plan_directory.h"
#include "agent/intercept/targets.h"
#include "agent/intercept/text_builder.h"
#include "agent/intercept/thunk.h"
#include "agent/intercept/wrappers.h"
#include "agent/lab_preload/io_meter.h"
#include "agent/lab_preload/lab_plan_reader.h"
#include "common/shm/selection.h"

namespace fieldcost::lab_preload {
namespace {

using intercept::ElfObject;
using intercept::Function;
using intercept::kNoThunk;
using intercept::SlotSpace;

intercept::TargetTable table;  // by hash

bool IsTooLong(const Function& function) {
  return strlen(function.symbol) >= sizeof(shm::LabApi::symbol) ||
         strlen(function.module) >= sizeof(shm::LabApi::module) ||
         strlen(function.version) >= sizeof(shm::LabApi::version);
}

// Counts a function that is not measured, and keeps its name while there is room. A named function
// is counted only once, not per object that calls it.
void LeaveOut(const Function& function) {
  shm::LabHeader& header = *process.header;
  char name[sizeof header.left_out_names[0]];
  intercept::TextBuilder(name, sizeof name).Add(function.module).Add("!").Add(function.symbol);
  for (auto& known : header.left_out_names) {
    if (strcmp(known, name) == 0) return;
    if (known[0] != '\0') continue;
    intercept::CopyText(known, name);
    break;
  }
  ++header.left_out;
}

uint32_t HiddenBy(const Function& function) {
  if (strcmp(function.symbol, "syscall") == 0) return kHiddenByArgument;
  return intercept::HiddenReasonsOf(function.module, function.symbol);
}

// Returns the target's number, creating the target if needed; kNoThunk if it is not measured.
uint32_t TargetFor(const Function& function) {
  const uint64_t hash = shm::ApiHash(function.module, function.symbol, function.version);
  uint16_t* const place = table.FindIn(process.targets, hash);
  const bool is_new = *place == 0;
  const bool is_wanted = !is_new || IsWanted(function.module, function.symbol);
  const uint32_t hidden = is_new && process.mode == shm::kLabMap ? HiddenBy(function) : 0;
  if (is_new) {
    if (!is_wanted && hidden == 0) return kNoThunk;
    if (intercept::target_count == intercept::kThunkCount || IsTooLong(function)) {
      LeaveOut(function);
      return kNoThunk;
    }
    *place = static_cast<uint16_t>(++intercept::target_count);
  }
  const uint32_t index = *place - 1U;
  Target& target = process.targets[index];
  target.SetName(function);
  if (is_new) {
    const PlannedApi planned = PlanOf(hash);
    target.hash = hash;
    target.role = static_cast<uint8_t>(is_wanted ? planned.role : shm::kLabHides);
    target.hidden = static_cast<uint8_t>(hidden);
    target.argument = static_cast<uint8_t>(planned.argument);
  }
  const uint64_t address = intercept::WrapperOf(function.target);
  target.is_allocator = intercept::IsAllocWrapper(address) ? 1 : 0;
  __atomic_store_n(&target.address, address, __ATOMIC_RELEASE);
  return index;
}

}  // namespace

const ElfObject* ProviderOf(const Target& target) {
  const SlotSpace space = intercept::Objects(false);
  return intercept::ObjectAt(space.objects, space.object_count, intercept::RealOf(target.address));
}

}  // namespace fieldcost::lab_preload

namespace fieldcost::intercept {

void Detach() { lab_preload::process.Detach(); }

bool KeepsRecords() { return true; }

// Marks the calls that load a library: memory that the loader allocates for it is not measured.
void DescribeObjects(uint32_t) {
  lab_preload::ThreadState* const thread = lab_preload::fieldcost_current_thread;
  if (lab_preload::process.mode != shm::kLabMap || thread == nullptr) return;
  lab_preload::NotMeasured(thread, kNoThunk, shm::kAllocInLoader);
}

void StandBeforeCalls(const SlotSpace& space, uint32_t first_object) {
  FindCalledSlotsOf(space, first_object, [](const Function& function) {
    return lab_preload::IsWanted(function.module, function.symbol) ||
           (lab_preload::process.mode == shm::kLabMap && lab_preload::HiddenBy(function) != 0);
  });
  PatchFunctions(space, first_object, [](const Function& function) {
    const uint32_t target = lab_preload::TargetFor(function);
    if (target != kNoThunk && lab_preload::process.targets[target].role == shm::kLabKnown)
      return kNoThunk;
    return target;
  });
  lab_preload::process.header->candidate_count = target_count;
}

}  // namespace fieldcost::intercept

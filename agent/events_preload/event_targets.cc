#include "agent/events_preload/event_targets.h"

#include <string.h>

#include "agent/events_preload/arena.h"
#include "agent/events_preload/event_plan_reader.h"
#include "agent/intercept/functions.h"
#include "agent/intercept/hidden_io.h"
#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/plan_directory.h"
#include "agent/intercept/targets.h"
#include "agent/intercept/text_builder.h"
#include "agent/intercept/thunk.h"
#include "agent/intercept/wrappers.h"
#include "common/shm/selection.h"

namespace fieldcost::events_preload {
namespace {

using intercept::Function;
using intercept::kNoThunk;
using intercept::SlotSpace;

intercept::TargetTable table;  // by hash

bool IsTooLong(const Function& function) {
  return strlen(function.symbol) >= sizeof(shm::TraceApi::symbol) ||
         strlen(function.version) >= sizeof(shm::TraceApi::version);
}

// Returns whether compilers generate calls of this function, which is ours; libc has functions with
// some of these names, which do nothing.
bool IsHook(const char* symbol) {
  static const char kFunctionHooks[] = "__cyg_profile_func_";
  static const char kBranchHooks[] = "__sanitizer_cov_";
  return strncmp(symbol, kFunctionHooks, sizeof kFunctionHooks - 1) == 0 ||
         strncmp(symbol, kBranchHooks, sizeof kBranchHooks - 1) == 0;
}

// Returns the target's number, creating the target if it is new; kNoThunk if it is not traced.
uint32_t TargetFor(const Function& function) {
  if (IsHook(function.symbol) || !IsWanted(function.module, function.symbol)) return kNoThunk;
  const uint64_t hash = shm::ApiHash(function.module, function.symbol, function.version);
  uint16_t* const place = table.FindIn(process.targets, hash);
  if (*place == 0) {
    if (intercept::target_count == intercept::kThunkCount || IsTooLong(function)) {
      ++process.header->left_out;
      return kNoThunk;
    }
    *place = static_cast<uint16_t>(++intercept::target_count);
  }
  Target& target = process.targets[*place - 1U];
  target.SetName(function);
  target.hash = hash;
  __atomic_store_n(&target.address, intercept::WrapperOf(function.target), __ATOMIC_RELEASE);
  return *place - 1U;
}

}  // namespace

__attribute__((cold)) void Describe(uint32_t api) {
  Target& target = process.targets[api];
  if (__atomic_load_n(&target.described, __ATOMIC_ACQUIRE) != 0 || target.symbol == nullptr) return;
  auto* const described = process.InFile<shm::TraceApi>(shm::TraceApisOffset(), api);
  if (!intercept::Populate(reinterpret_cast<uint64_t>(described), sizeof *described)) return;
  // Two threads may do this concurrently; they write the same values.
  intercept::CopyText(described->symbol, target.symbol);
  intercept::CopyText(described->version, target.version);
  described->module = KnowModule(intercept::RealOf(target.address));
  __atomic_store_n(&described->complete, 1, __ATOMIC_RELEASE);
  __atomic_store_n(&target.described, 1, __ATOMIC_RELEASE);
}

}  // namespace fieldcost::events_preload

namespace fieldcost::intercept {

using events_preload::process;

void Detach() { process.Detach(); }

bool KeepsRecords() { return (events_preload::Plan().events & shm::kTraceCalls) != 0; }

void DescribeObjects(uint32_t) {
  fieldcost_hidden_io |= shm::kAllocInLoader;  // until the next event, which records it
}

void StandBeforeCalls(const SlotSpace& space, uint32_t first_object) {
  if (!KeepsRecords()) return;
  FindCalledSlotsOf(space, first_object, [](const Function& function) {
    return events_preload::IsWanted(function.module, function.symbol);
  });
  PatchFunctions(space, first_object, events_preload::TargetFor);
  process.header->api_count = target_count;
}

}  // namespace fieldcost::intercept

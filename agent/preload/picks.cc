#include "agent/preload/picks.h"

#include <string.h>

#include "agent/intercept/cycle_clock.h"
#include "agent/intercept/slots.h"
#include "agent/intercept/thunk.h"
#include "agent/intercept/wrappers.h"
#include "agent/preload/measuring.h"
#include "agent/preload/process_state.h"
#include "agent/preload/run_file_writer.h"

namespace fieldcost::preload {
namespace {

using intercept::SamplingStubOf;

// Returns the candidate's suspended pick: it is described as active, although it is not.
uint32_t SuspendedPick(const Candidate& candidate) {
  for (uint32_t i = 0; i < process.pick_count; ++i) {
    const shm::Pick& shared = *process.picks[i].shared;
    if (!IsActivePick(i) && shared.phase == shm::kPickActive &&
        strcmp(shared.symbol, candidate.symbol) == 0 &&
        strcmp(shared.symbol_version, candidate.version) == 0 &&
        strcmp(shared.module_path, candidate.provider->path) == 0) {
      return i;
    }
  }
  return kNoPick;
}

void Aim(PickState* pick, const Candidate& candidate) {
  pick->target = intercept::WrapperOf(candidate.target);
  pick->code_begin = candidate.code_begin;
  pick->code_end = candidate.code_end;
  pick->phase = shm::kPickActive;
}

// Returns whether the slot is for that pick's version of the symbol: two versions may lead to one
// function.
bool IsOfVersion(const intercept::SlotSpace& space, const intercept::ElfObject& importer,
                 const Elf64_Rela& relocation, uint64_t target, const shm::Pick& pick) {
  const intercept::ElfObject* const provider =
      intercept::ObjectAt(space.objects, space.object_count, target);
  if (provider == nullptr) return false;
  const Elf64_Sym* const definition =
      intercept::FindExport(*provider, pick.symbol, intercept::NeededVersion(importer, relocation));
  return definition != nullptr &&
         strcmp(intercept::DefinedVersion(*provider, definition), pick.symbol_version) == 0;
}

void GiveBackSlots(uint32_t pick, uint32_t phase) {
  intercept::RetargetThunk(pick, process.picks[pick].target, true);
  process.picks[pick].phase = phase;
}

}  // namespace

bool IsActivePick(uint32_t pick) { return process.picks[pick].phase == shm::kPickActive; }

bool AddPick(const Candidate& candidate, uint32_t sampling_log2) {
  if (const uint32_t old = SuspendedPick(candidate); old != kNoPick) {
    Aim(&process.picks[old], candidate);
    return true;
  }
  const uint32_t index = process.pick_count;
  if (index == process.pick_capacity) return false;
  shm::Pick* const shared = DescribePick(candidate, sampling_log2);
  if (shared == nullptr) return false;
  PickState& pick = process.picks[index];
  pick.shared = shared;
  pick.sampling_log2 = sampling_log2;
  pick.first_taken = 0;
  pick.slots = 0;
  Aim(&pick, candidate);
  __atomic_store_n(&process.pick_count, index + 1, __ATOMIC_SEQ_CST);
  // A thread that concurrently adds reasons either sees this pick, or its reasons are seen here.
  AddNotMeasured(shared, __atomic_load_n(&process.not_measured, __ATOMIC_SEQ_CST));
  return true;
}

void AddNotMeasuredOfAll(uint32_t reasons) {
  __atomic_fetch_or(&process.not_measured, reasons, __ATOMIC_SEQ_CST);
  const uint32_t count = __atomic_load_n(&process.pick_count, __ATOMIC_SEQ_CST);
  for (uint32_t i = 0; i < count; ++i) AddNotMeasured(process.picks[i].shared, reasons);
}

void PatchPicks(const intercept::SlotSpace& space, uint32_t first_object) {
  intercept::ForEachSlot(
      space, first_object, space.data_too,
      [&](const intercept::ElfObject& object, const Elf64_Rela& relocation, uint64_t* slot) {
        const char* const name = intercept::NameOf(object, relocation);
        for (uint32_t i = 0; i < process.pick_count; ++i) {
          shm::Pick* const shared = process.picks[i].shared;
          if (!IsActivePick(i) || strcmp(name, shared->symbol) != 0) continue;
          const uint64_t value = __atomic_load_n(slot, __ATOMIC_RELAXED);
          if (value == intercept::StubOf(i) || value == SamplingStubOf(i)) break;
          const uint64_t leads_to = intercept::TargetOf(space, object, relocation, slot);
          if (leads_to != intercept::RealOf(process.picks[i].target)) continue;
          if (!IsOfVersion(space, object, relocation, leads_to, *shared)) continue;
          const bool is_sampled = process.picks[i].sampling_log2 != 0;
          const uint64_t stub = is_sampled ? SamplingStubOf(i) : intercept::StubOf(i);
          if (!intercept::PatchSlot(object, slot, i, stub)) break;
          ++process.picks[i].slots;
          shared->slots = process.picks[i].slots;
          break;
        }
        return true;
      });
}

uint32_t AddSightedPick(const Candidate& candidate, uint32_t sampling_log2, uint32_t watching) {
  if (!AddPick(candidate, sampling_log2)) return kNoPick;
  const uint32_t pick = process.pick_count - 1;
  const uint64_t stub = sampling_log2 != 0 ? SamplingStubOf(pick) : intercept::StubOf(pick);
  process.picks[pick].slots = intercept::HandOverThunk(watching, pick, stub);
  process.picks[pick].shared->slots = process.picks[pick].slots;
  return pick;
}

void EndPick(uint32_t pick, uint32_t phase) {
  if (!IsActivePick(pick)) return;
  const PickState& state = process.picks[pick];
  GiveBackSlots(pick, phase);
  state.shared->end_unix_ns = intercept::UnixNanoseconds();
  __atomic_store_n(&state.shared->phase, phase, __ATOMIC_RELEASE);
}

void SuspendPick(uint32_t pick) {
  if (IsActivePick(pick)) GiveBackSlots(pick, shm::kPickEnded);
}

void SetSampling(uint32_t pick, uint32_t sampling_log2) {
  PickState& state = process.picks[pick];
  if (!IsActivePick(pick) || sampling_log2 <= state.sampling_log2) return;
  const bool was_sampled = state.sampling_log2 != 0;
  __atomic_store_n(&state.sampling_log2, sampling_log2, __ATOMIC_RELEASE);
  state.shared->sampling_log2 = sampling_log2;
  if (!was_sampled) intercept::RetargetThunk(pick, SamplingStubOf(pick), false);
}

bool IsAnyPickActive() { return FirstActivePick() != kNoPick; }

uint32_t FirstActivePick() {
  for (uint32_t i = 0; i < process.pick_count; ++i) {
    if (IsActivePick(i)) return i;
  }
  return kNoPick;
}

uint32_t RemoveKnownPicks(Picks* picks) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < picks->count; ++i) {
    bool known = false;
    for (uint32_t k = 0; k < process.pick_count; ++k) {
      const shm::Pick& shared = *process.picks[k].shared;
      const Candidate& drawn = picks->candidates[i];
      if (IsActivePick(k) && intercept::RealOf(process.picks[k].target) == drawn.target &&
          strcmp(shared.symbol, drawn.symbol) == 0 &&
          strcmp(shared.symbol_version, drawn.version) == 0) {
        known = true;
      }
    }
    if (!known) picks->candidates[kept++] = picks->candidates[i];
  }
  return kept;
}

}  // namespace fieldcost::preload

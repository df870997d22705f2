#include "agent/preload/sightings.h"

#include "agent/intercept/objects.h"
#include "agent/intercept/slots.h"
#include "agent/intercept/wrappers.h"
#include "agent/preload/picks.h"
#include "agent/preload/preload_workspace.h"
#include "agent/preload/process_state.h"
#include "agent/preload/run_file_writer.h"

namespace fieldcost::preload {
namespace {

using intercept::ElfObject;
using intercept::SlotSpace;

// Returns how many of the object's slots may lead to candidates. Slots for its own functions (most
// of a C++ library's slots) do only if functions of this library may be picked.
uint64_t SlotCountOf(const RunRequest& request, const SlotSpace& space, const ElfObject& object) {
  const bool own_too = *object.soname != '\0' && IsAllowed(request, object.soname);
  uint64_t count = 0;
  intercept::ForEachSlotOf(
      object, space.data_too,
      [&](const ElfObject& importer, const Elf64_Rela& relocation, const uint64_t*) {
        if (own_too || intercept::SymbolOf(importer, relocation).st_shndx == SHN_UNDEF) ++count;
        return true;
      });
  return count;
}

shm::WatchChances ChancesOf(const RunRequest& request, const SlotSpace& space, uint32_t wanted) {
  uint64_t of_libraries = 0;
  for (uint32_t i = 1; i < space.object_count; ++i) {
    of_libraries += SlotCountOf(request, space, space.objects[i]);
  }
  return shm::WatchChancesOf(SlotCountOf(request, space, space.objects[0]), of_libraries, wanted);
}

// Returns the probability of watching a function whose first importer is this object. Importers are
// ordered by decreasing probability: the program, its libraries, libraries loaded by dlopen.
uint32_t ChanceAt(const Sightings& sightings, const SlotSpace& space, const ElfObject& importer) {
  if (&importer == &space.objects[0]) return sightings.chances.of_program;
  return importer.is_dynamic ? sightings.later_chance : sightings.chances.of_libraries;
}

// Returns whether functions of this name may be watched where an object imports them: either by
// that object's chance, or because a function of that name is already watched.
bool IsNameWatched(const Sightings& sightings, const char* name, uint32_t chance) {
  const uint32_t number = shm::WatchNumber(name, sightings.random_names);
  if (number < chance) return true;
  if (number >= sightings.chances.of_program) return false;
  for (uint32_t i = 0; i < sightings.count; ++i) {
    if (sightings.watched[i].name_number == number) return true;
  }
  return false;
}

uint32_t ThunkOf(uint32_t index) { return kFirstWatchThunk + index; }

// Returns the API's entry, or a new one, marked as gone, if the draw includes it; else null.
Watched* EntryOf(Sightings* sightings, uint64_t api_hash, const char* name, uint32_t chance) {
  for (uint32_t i = 0; i < sightings->count; ++i) {
    if (sightings->watched[i].api_hash == api_hash) return &sightings->watched[i];
  }
  const uint32_t number = shm::WatchNumber(name, sightings->random_names);
  if (number >= chance || sightings->count == shm::kMaxWatched) return nullptr;
  Watched* const entry = &sightings->watched[sightings->count++];
  entry->api_hash = api_hash;
  entry->name_number = number;
  entry->chance = chance;
  entry->pick = kNoPick;
  entry->is_gone = true;
  return entry;
}

// Objects loaded by dlopen share the remaining room with those that may be loaded later.
void ShareRoomWith(const RunRequest& request, const SlotSpace& space, uint32_t first_object,
                   Sightings* sightings) {
  uint64_t slots = 0;
  for (uint32_t i = first_object; i < space.object_count; ++i) {
    if (space.objects[i].is_dynamic) slots += SlotCountOf(request, space, space.objects[i]);
  }
  if (slots == 0) return;
  sightings->later_chance =
      shm::LaterChance(sightings->later_chance, shm::kMaxWatched - sightings->count, slots);
}

void Aim(Watched* entry, uint32_t thunk, const Candidate& candidate) {
  entry->candidate = candidate;
  entry->is_gone = false;
  entry->from_start = process.has_begun == 0;
  process.picks[thunk].target = intercept::WrapperOf(candidate.target);
}

void WatchSlot(const RunRequest& request, const SlotSpace& space, const ElfObject& importer,
               const Elf64_Rela& relocation, uint64_t* slot) {
  Sightings* const sightings = &workspace->sightings;
  Candidate candidate;
  if (!MakeCandidate(space, importer, relocation, slot, &candidate) ||
      !IsOfAllowedModule(request, candidate)) {
    return;
  }
  Watched* const entry =
      EntryOf(sightings, shm::ApiHash(candidate.module, candidate.symbol, candidate.version),
              candidate.symbol, ChanceAt(*sightings, space, importer));
  if (entry == nullptr || entry->is_sighted) return;
  const uint32_t thunk = ThunkOf(static_cast<uint32_t>(entry - sightings->watched));
  if (entry->is_gone) {
    Aim(entry, thunk, candidate);
  } else if (entry->candidate.target != candidate.target) {
    return;
  }
  intercept::PatchSlot(importer, slot, thunk, intercept::StubOf(thunk));
}

void GiveBack(uint32_t thunk) {
  intercept::RetargetThunk(thunk, process.picks[thunk].target, true);
}

// Records the state of the draw for all picks that have a place.
void DescribePlaces(const Sightings& sightings) {
  for (uint32_t order = 0; order < sightings.places.count; ++order) {
    shm::Pick* const pick = process.picks[sightings.places.places[order].pick].shared;
    pick->weight_left = shm::WeightLeft(sightings.places, order);
    pick->draw_order = order;
    pick->called = sightings.called;
  }
}

// Makes a pick of a function that takes a place. Returns its index; kNoPick if there is no room.
uint32_t Place(const RunRequest& request, Sightings* sightings, const Watched& entry,
               uint32_t thunk, uint32_t order) {
  const uint32_t pick = AddSightedPick(entry.candidate, request.policy.sampling_log2, thunk);
  if (pick == kNoPick) return kNoPick;
  shm::Pick* const shared = process.picks[pick].shared;
  if (entry.from_start && !sightings->is_later) {
    shared->start_unix_ns = process.header->start_unix_ns;  // no earlier call was missed
  }
  shared->watched_per_65536 = entry.chance;
  shared->watched = sightings->count;
  const uint32_t lost = shm::TakePlace(&sightings->places, order, entry.candidate.weight, pick);
  if (lost != shm::kNoPlace) {
    process.picks[lost].shared->picks_wanted = 0;
    EndPick(lost, shm::kPickEnded);
  }
  shared->picks_wanted = sightings->places.wanted;
  return pick;
}

}  // namespace

bool IsAnythingToWatch(const RunRequest& request, const SlotSpace& space, uint64_t random,
                       uint32_t wanted) {
  Sightings* const sightings = &workspace->sightings;
  sightings->chances = ChancesOf(request, space, wanted);
  sightings->later_chance = sightings->chances.of_libraries;
  sightings->random_names = random;
  bool found = false;
  intercept::ForEachSlot(
      space, 0, space.data_too,
      [&](const ElfObject& importer, const Elf64_Rela& relocation, const uint64_t* slot) {
        const char* const name = intercept::NameOf(importer, relocation);
        if (!IsNameWatched(*sightings, name, ChanceAt(*sightings, space, importer))) return true;
        Candidate candidate;
        found = MakeCandidate(space, importer, relocation, slot, &candidate) &&
                IsOfAllowedModule(request, candidate);
        return !found;
      });
  return found;
}

void BeginWatching(const RunRequest& request, const SlotSpace& space, uint64_t random,
                   uint32_t wanted) {
  Sightings* const sightings = &workspace->sightings;
  sightings->is_later = sightings->has_begun;
  sightings->has_begun = true;
  sightings->random_places = shm::MixBits(random);
  sightings->places.wanted = wanted;
  sightings->places.count = 0;
  sightings->places.called_weight = 0;
  sightings->called = 0;
  for (uint32_t i = 0; i < sightings->count; ++i) sightings->watched[i].is_sighted = false;
  sightings->is_watching = true;
  process.is_watching = 1;
  WatchMore(request, space, 0);
}

void WatchMore(const RunRequest& request, const SlotSpace& space, uint32_t first_object) {
  Sightings* const sightings = &workspace->sightings;
  if (!sightings->is_watching) return;
  ShareRoomWith(request, space, first_object, sightings);
  for (uint32_t i = first_object; i < space.object_count; ++i) {
    const ElfObject& object = space.objects[i];
    const uint32_t chance = ChanceAt(*sightings, space, object);
    const intercept::LiftedProtection lifted(object);
    intercept::ForEachSlotOf(
        object, space.data_too,
        [&](const ElfObject& importer, const Elf64_Rela& relocation, uint64_t* slot) {
          if (IsNameWatched(*sightings, intercept::NameOf(importer, relocation), chance)) {
            WatchSlot(request, space, importer, relocation, slot);
          }
          return true;
        });
  }
}

uint32_t OnSighting(const RunRequest& request, uint32_t thunk) {
  Sightings* const sightings = &workspace->sightings;
  Watched* const entry = &sightings->watched[thunk - kFirstWatchThunk];
  if (entry->is_sighted || entry->is_gone || !sightings->is_watching) return entry->pick;
  entry->is_sighted = true;
  Candidate* const candidate = &entry->candidate;
  // Functions that cannot become a pick must not take a place in the draw from those that can.
  candidate->weight = CanBeDescribed(*candidate) ? WeightOf(request, *candidate) : 0;
  if (candidate->weight != 0) {
    ++sightings->called;
    const uint32_t order =
        shm::OfferPlaces(&sightings->places, candidate->weight, &sightings->random_places);
    if (order != shm::kNoPlace) entry->pick = Place(request, sightings, *entry, thunk, order);
    DescribePlaces(*sightings);
  }
  if (entry->pick == kNoPick) GiveBack(thunk);
  return entry->pick;
}

void StopWatching() {
  Sightings* const sightings = &workspace->sightings;
  if (!sightings->is_watching) return;
  sightings->is_watching = false;
  for (uint32_t i = 0; i < sightings->count; ++i) {
    if (!sightings->watched[i].is_sighted) GiveBack(ThunkOf(i));
    sightings->watched[i].pick = kNoPick;
  }
}

void LeaveWatchedDynamicObjects() {
  Sightings* const sightings = &workspace->sightings;
  for (uint32_t i = 0; i < sightings->count; ++i) {
    Watched* const entry = &sightings->watched[i];
    if (entry->is_gone || !intercept::IsInDynamicObject(entry->candidate.target)) continue;
    GiveBack(ThunkOf(i));
    entry->is_gone = true;
    entry->pick = kNoPick;
  }
}

}  // namespace fieldcost::preload

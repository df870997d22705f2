#include "agent/preload/candidates.h"

#include <string.h>

#include "agent/intercept/slots.h"
#include "agent/intercept/text.h"
#include "agent/intercept/wrappers.h"
#include "agent/intercept/x86_64/machine.h"
#include "common/shm/mix.h"
#include "common/shm/selection.h"

namespace fieldcost::preload {
namespace {

using intercept::ElfObject;
using intercept::GlobMatches;
using intercept::SlotSpace;

// Follows a slot to a candidate. False if it leads to nothing that may be picked.
bool MakeCandidate(const SlotSpace& space, const ElfObject& importer, const Elf64_Rela& relocation,
                   const uint64_t* slot, Candidate* candidate) {
  *candidate = {};
  // What the program itself defines is never picked.
  return intercept::FollowSlot(space, importer, relocation, slot, candidate) &&
         *candidate->module != '\0';
}

bool AlreadyPicked(const Picks& picks, const Candidate& candidate) {
  for (uint32_t i = 0; i < picks.count; ++i) {
    if (intercept::IsSameFunction(picks.candidates[i], candidate)) return true;
  }
  return false;
}

// How likely an API is taken by a draw that comes upon it; 0 if it may not be measured.
uint32_t WeightOf(const Request& request, const Candidate& candidate) {
  // A file's name does not say which library it is.
  const char* const soname = candidate.provider->soname;
  if (*soname == '\0' || !IsAllowed(request, soname)) return 0;
  return PolicyWeight(request, shm::ApiHash(soname, candidate.symbol, candidate.version));
}

uint32_t SlotCount(const ElfObject& object, bool data_too) {
  return object.plt_count + (data_too ? object.relocation_count : 0);
}

uint64_t SlotCount(const SlotSpace& space) {
  uint64_t count = 0;
  for (uint32_t i = 0; i < space.object_count; ++i) {
    count += SlotCount(space.objects[i], space.data_too);
  }
  return count;
}

// Draws one of the space's slots, and says what it leads to.
Drawn ComeUpon(const Request& request, const SlotSpace& space, uint64_t slot_count,
               uint64_t random) {
  Drawn drawn = {};
  uint64_t index = random % slot_count;
  while (index >= SlotCount(space.objects[drawn.importer], space.data_too)) {
    index -= SlotCount(space.objects[drawn.importer++], space.data_too);
  }
  const ElfObject& object = space.objects[drawn.importer];
  const bool is_plt = index < object.plt_count;
  const Elf64_Rela& relocation =
      is_plt ? object.plt[index] : object.relocations[index - object.plt_count];
  const uint32_t type = is_plt ? intercept::kCallSlot : intercept::kDataSlot;
  if (ELF64_R_TYPE(relocation.r_info) != type) return drawn;
  const auto* slot = reinterpret_cast<const uint64_t*>(object.base + relocation.r_offset);
  if (!MakeCandidate(space, object, relocation, slot, &drawn.candidate)) return drawn;
  drawn.weight = WeightOf(request, drawn.candidate);
  return drawn;
}

uint32_t CountOf(const Picks& picks, const ElfObject* provider) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < picks.count; ++i) {
    if (picks.candidates[i].provider == provider) ++count;
  }
  return count;
}

// Draws until an API is taken that is not among `taken` (if given), of a library that has fewer
// than `most` there. Without weight if it gives up.
Drawn Draw(const Request& request, const SlotSpace& space, const Picks* taken, uint64_t* random,
           uint32_t most = shm::kMaxPicks) {
  const uint64_t slot_count = SlotCount(space);
  if (slot_count == 0) return {};
  for (uint32_t draw = 1; draw <= shm::kDrawsPerPick; ++draw) {
    Drawn drawn = ComeUpon(request, space, slot_count, shm::NextRandom(random));
    if (!shm::TakesDraw(shm::NextRandom(random), drawn.weight)) continue;
    if (taken != nullptr && AlreadyPicked(*taken, drawn.candidate)) continue;
    if (most < shm::kMaxPicks && CountOf(*taken, drawn.candidate.provider) >= most) continue;
    drawn.candidate.candidate_count = slot_count;
    drawn.candidate.draws = draw;
    drawn.candidate.weight = drawn.weight;
    return drawn;
  }
  return {};
}

// The probe draws of what has been drawn together.
void Probe(const Request& request, const SlotSpace& space, uint64_t* random, Candidate* candidates,
           uint32_t count) {
  const uint64_t slot_count = SlotCount(space);
  for (uint32_t draw = 0; draw < shm::kProbeDraws; ++draw) {
    const Drawn found = ComeUpon(request, space, slot_count, shm::NextRandom(random));
    for (uint32_t i = 0; found.weight != 0 && i < count; ++i) {
      candidates[i].probe_weight += found.weight;
      // Those after it were drawn from what it left.
      if (intercept::IsSameFunction(candidates[i], found.candidate)) break;
    }
  }
}

// True if some pattern of the list could match this symbol of any library: spares the resolution of
// slots that cannot be meant.
bool SymbolMatchesList(const char* list, const char* symbol) {
  while (*list != '\0') {
    const size_t bytes = intercept::PartBytes(list);
    const char* const mark = intercept::FindChar(list, bytes, '!');
    const char* const pattern = mark == nullptr ? list : mark + 1;
    if (GlobMatches(pattern, static_cast<size_t>(list + bytes - pattern), symbol, strlen(symbol))) {
      return true;
    }
    list += bytes;
    if (*list == ',') ++list;
  }
  return false;
}

}  // namespace

void PickAtRandom(const Request& request, const SlotSpace& space, uint64_t random, uint32_t wanted,
                  Picks* picks) {
  constexpr uint32_t kAskedGiveUps = 8;
  constexpr uint32_t kAskedOfOneLibrary = 8;
  uint32_t gave_up = 0;
  // Who asks wants to know of all libraries; only if there are no others, more of one.
  uint32_t most = request.is_only_asked() ? kAskedOfOneLibrary : shm::kMaxPicks;
  picks->count = 0;
  for (uint32_t order = 0; order < wanted; ++order) {
    const Drawn drawn = Draw(request, space, picks, &random, most);
    if (drawn.weight == 0) {
      most = shm::kMaxPicks;
      // Weights that must be right need every number tried; here the program need not wait.
      if (request.is_only_asked() && ++gave_up == kAskedGiveUps) break;
      continue;
    }
    Candidate& next = picks->candidates[picks->count++];
    next = drawn.candidate;
    next.wanted = wanted;
    next.order = order;
  }
  if (picks->count != 0) Probe(request, space, &random, picks->candidates, picks->count);
}

Drawn PickAgain(const Request& request, const SlotSpace& space, uint64_t random) {
  Drawn drawn = Draw(request, space, nullptr, &random);
  if (drawn.weight == 0) return drawn;
  drawn.candidate.wanted = 1;
  Probe(request, space, &random, &drawn.candidate, 1);
  return drawn;
}

void FindCalledSlotsByName(const Request& request, const SlotSpace& space, uint32_t first_object) {
  if (space.data_too) return;  // every slot is looked at anyway
  intercept::FindCalledSlots(
      space.objects, first_object, space.object_count,
      [&](const ElfObject& importer, const Elf64_Rela& relocation, const uint64_t* slot) {
        Candidate candidate;
        return SymbolMatchesList(request.forced_pick, intercept::NameOf(importer, relocation)) &&
               MakeCandidate(space, importer, relocation, slot, &candidate) &&
               intercept::NamesApi(request.forced_pick, candidate.module, candidate.symbol);
      });
}

void PickByName(const Request& request, const SlotSpace& space, uint32_t first_object,
                Picks* picks) {
  picks->count = 0;
  picks->left_out = false;
  intercept::ForEachSlot(
      space, first_object, space.data_too,
      [&](const ElfObject& importer, const Elf64_Rela& relocation, const uint64_t* slot) {
        if (!SymbolMatchesList(request.forced_pick, intercept::NameOf(importer, relocation)))
          return true;
        Candidate candidate;
        if (MakeCandidate(space, importer, relocation, slot, &candidate) &&
            intercept::NamesApi(request.forced_pick, candidate.module, candidate.symbol) &&
            !AlreadyPicked(*picks, candidate)) {
          picks->left_out = picks->count == shm::kMaxPicks;
          if (picks->left_out) return false;
          candidate.weight = shm::kFullWeight;
          picks->candidates[picks->count++] = candidate;
        }
        return true;
      });
}

}  // namespace fieldcost::preload

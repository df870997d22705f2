#include "agent/preload/candidates.h"

#include <string.h>

#include "agent/intercept/slots.h"
#include "agent/intercept/text_builder.h"
#include "agent/intercept/wrappers.h"
#include "agent/intercept/x86_64/machine.h"
#include "common/shm/mix.h"
#include "common/shm/selection.h"

namespace fieldcost::preload {
namespace {

using intercept::ElfObject;
using intercept::GlobMatches;
using intercept::SlotSpace;

constexpr uint32_t kReservedNameDivisor = 8;
constexpr uint32_t kUndocumentedDivisor = 4;

bool AlreadyPicked(const Picks& picks, const Candidate& candidate) {
  for (uint32_t i = 0; i < picks.count; ++i) {
    if (intercept::IsSameFunction(picks.candidates[i], candidate)) return true;
  }
  return false;
}

// The result of a draw.
struct Drawn {
  Candidate candidate;
  uint32_t weight;  // 0: nothing that may be picked was drawn, and the candidate is not set
};

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

// Draws one of the space's slots and returns its function.
Drawn ComeUpon(const RunRequest& request, const SlotSpace& space, uint64_t slot_count,
               uint64_t random) {
  Drawn drawn = {};
  uint64_t index = random % slot_count;
  uint32_t importer = 0;
  while (index >= SlotCount(space.objects[importer], space.data_too)) {
    index -= SlotCount(space.objects[importer++], space.data_too);
  }
  const ElfObject& object = space.objects[importer];
  const bool is_plt = index < object.plt_count;
  const Elf64_Rela& relocation =
      is_plt ? object.plt[index] : object.relocations[index - object.plt_count];
  const uint32_t type = is_plt ? intercept::kCallSlot : intercept::kDataSlot;
  if (ELF64_R_TYPE(relocation.r_info) != type) return drawn;
  const auto* slot = reinterpret_cast<const uint64_t*>(object.base + relocation.r_offset);
  if (!MakeCandidate(space, object, relocation, slot, &drawn.candidate)) return drawn;
  if (IsOfAllowedModule(request, drawn.candidate)) {
    drawn.weight = WeightOf(request, drawn.candidate);
  }
  return drawn;
}

uint32_t CountOf(const Picks& picks, const ElfObject* provider) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < picks.count; ++i) {
    if (picks.candidates[i].provider == provider) ++count;
  }
  return count;
}

// Draws until it gets an API that is not in `taken` and whose library has fewer than `most` APIs
// there. Returns one without weight if it gives up.
Drawn Draw(const RunRequest& request, const SlotSpace& space, const Picks& taken, uint64_t* random,
           uint32_t most) {
  const uint64_t slot_count = SlotCount(space);
  if (slot_count == 0) return {};
  for (uint32_t draw = 1; draw <= shm::kDrawsPerPick; ++draw) {
    Drawn drawn = ComeUpon(request, space, slot_count, shm::NextRandom(random));
    if (!shm::TakesDraw(shm::NextRandom(random), drawn.weight)) continue;
    if (AlreadyPicked(taken, drawn.candidate)) continue;
    if (most < shm::kMaxPicks && CountOf(taken, drawn.candidate.provider) >= most) continue;
    drawn.candidate.weight = drawn.weight;
    return drawn;
  }
  return {};
}

// Returns true if any pattern of the list could match this symbol in some library: avoids resolving
// slots that cannot match.
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

bool MakeCandidate(const SlotSpace& space, const ElfObject& importer, const Elf64_Rela& relocation,
                   const uint64_t* slot, Candidate* candidate) {
  *candidate = {};
  // Functions that the program itself defines are never picked.
  return intercept::FollowSlot(space, importer, relocation, slot, candidate) &&
         *candidate->module != '\0';
}

bool IsOfAllowedModule(const RunRequest& request, const Candidate& candidate) {
  // The name of a file does not identify its library.
  const char* const soname = candidate.provider->soname;
  return *soname != '\0' && IsAllowed(request, soname);
}

uint32_t WeightOf(const RunRequest& request, const Candidate& candidate) {
  const uint32_t weight = PolicyWeight(
      request, shm::ApiHash(candidate.provider->soname, candidate.symbol, candidate.version));
  const bool is_reserved = candidate.symbol[0] == '_';
  if (is_reserved && candidate.symbol[1] == 'Z') return weight;
  const Documented documented = IsDocumented(request, candidate.symbol);
  if (documented == Documented::kYes) return weight;
  uint32_t divisor = documented == Documented::kNo ? kUndocumentedDivisor : 1;
  if (is_reserved) divisor *= kReservedNameDivisor;
  return weight >= divisor ? weight / divisor : weight;
}

void PickAtRandom(const RunRequest& request, const SlotSpace& space, uint64_t random,
                  uint32_t wanted, Picks* picks) {
  constexpr uint32_t kMostGiveUps = 8;
  constexpr uint32_t kMostOfOneLibrary = 8;
  uint32_t gave_up = 0;
  // The user is interested in all libraries: takes more APIs of one library only if there are no
  // others.
  uint32_t most = kMostOfOneLibrary;
  picks->count = 0;
  for (uint32_t i = 0; i < wanted && gave_up < kMostGiveUps; ++i) {
    const Drawn drawn = Draw(request, space, *picks, &random, most);
    if (drawn.weight == 0) {
      most = shm::kMaxPicks;
      ++gave_up;
      continue;
    }
    picks->candidates[picks->count++] = drawn.candidate;
  }
}

void FindCalledSlotsByName(const RunRequest& request, const SlotSpace& space,
                           uint32_t first_object) {
  if (space.data_too) return;  // every slot is examined anyway
  intercept::FindCalledSlots(
      space.objects, first_object, space.object_count,
      [&](const ElfObject& importer, const Elf64_Rela& relocation, const uint64_t* slot) {
        Candidate candidate;
        return SymbolMatchesList(request.forced_pick, intercept::NameOf(importer, relocation)) &&
               MakeCandidate(space, importer, relocation, slot, &candidate) &&
               intercept::NamesApi(request.forced_pick, candidate.module, candidate.symbol);
      });
}

void PickByName(const RunRequest& request, const SlotSpace& space, uint32_t first_object,
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

#include "agent/intercept/wrappers.h"

#include <string.h>

#include "agent/intercept/hooks.h"
#include "agent/intercept/thunk.h"
#include "agent/intercept/words.h"

namespace fieldcost::intercept {
namespace {

struct Group {
  const WrappedFunction* functions;
  size_t count;
  bool words_too;
};
constexpr uint32_t kMaxGroups = 8;
constexpr size_t kMaxFunctions = 255;  // of a group
Group groups[kMaxGroups];
uint32_t group_count;

// A group's functions by their names, which are looked up for each slot of the program.
class Names {
 public:
  explicit Names(const Group& group) : group_(group) {
    for (size_t i = 0; i < group.count; ++i) {
      uint8_t* const place = PlaceOf(group.functions[i].name);
      if (*place == 0) *place = static_cast<uint8_t>(i + 1);
    }
  }
  // Null if no function of the group has this name.
  const WrappedFunction* Find(const char* name) {
    const uint8_t place = *PlaceOf(name);
    return place == 0 ? nullptr : &group_.functions[place - 1];
  }

 private:
  static constexpr uint32_t kPlaces = 1024;
  // Where the name is, or would be.
  uint8_t* PlaceOf(const char* name) {
    uint32_t at = HashOfName(name) % kPlaces;
    while (places_[at] != 0 && strcmp(group_.functions[places_[at] - 1].name, name) != 0) {
      at = (at + 1) % kPlaces;
    }
    return &places_[at];
  }

  const Group& group_;
  uint8_t places_[kPlaces] = {};  // number of the function + 1
};

void InstallInSlots(const Group& group, const SlotSpace& space, uint32_t first_object) {
  Names names(group);
  ForEachSlot(space, first_object, true,
              [&](const ElfObject& object, const Elf64_Rela& relocation, uint64_t* slot) {
                const char* const name = NameOf(object, relocation);
                const WrappedFunction* const function = names.Find(name);
                if (function == nullptr) return true;
                const uint64_t real = TargetOf(space, object, relocation, slot);
                if (real == 0 || !IsDefinition(space.objects, space.object_count, name, real)) {
                  return true;
                }
                if (*function->real == 0) *function->real = real;
                if (*function->real == real) WriteSlot(object, slot, function->wrapper);
                return true;
              });
}

// The function that a reference by this name is bound to: the first definition in search order. 0
// if there is none, or if only the loader can tell.
uint64_t FirstDefinition(const SlotSpace& space, const char* name) {
  const uint32_t hash = HashOfName(name);
  for (uint32_t i = 0; i < space.object_count && !space.objects[i].is_dynamic; ++i) {
    const ElfObject& object = space.objects[i];
    const Elf64_Sym* const found = FindExport(object, name, hash, "");
    if (found == nullptr) continue;
    return ELF64_ST_TYPE(found->st_info) == STT_FUNC ? object.base + found->st_value : 0;
  }
  return 0;
}

// What words are compared with: the addresses of a group's functions are near each other.
struct AddressRange {
  uint64_t begin = ~uint64_t{0};
  uint64_t last = 0;
};

AddressRange FindFunctions(const Group& group, const SlotSpace& space) {
  AddressRange range;
  for (size_t i = 0; i < group.count; ++i) {
    uint64_t* const real = group.functions[i].real;
    if (*real == 0) *real = FirstDefinition(space, group.functions[i].name);
    if (*real == 0) continue;
    if (*real < range.begin) range.begin = *real;
    if (*real > range.last) range.last = *real;
  }
  return range;
}

// A word says by its value alone what it leads to; what the program has stored there since it was
// loaded is the program's.
void InstallInWords(const Group& group, const SlotSpace& space, uint32_t first_object) {
  const AddressRange range = FindFunctions(group, space);
  for (uint32_t o = first_object; o < space.object_count; ++o) {
    const ElfObject& object = space.objects[o];
    ForEachWordOf(object, [&group, &range, &object](uint64_t* word) {
      const uint64_t value = __atomic_load_n(word, __ATOMIC_RELAXED);
      if (value < range.begin || value > range.last) return;
      for (size_t i = 0; i < group.count; ++i) {
        if (*group.functions[i].real != value) continue;
        ReplaceWord(object, word, value, group.functions[i].wrapper);
        return;
      }
    });
  }
}

void Install(const Group& group, const SlotSpace& space, uint32_t first_object) {
  InstallInSlots(group, space, first_object);
  if (group.words_too) InstallInWords(group, space, first_object);
}

void InstallGroup(const Group& group, const SlotSpace& space, uint32_t first_object) {
  if (group_count == kMaxGroups || group.count > kMaxFunctions) return;
  groups[group_count] = group;
  Install(groups[group_count++], space, first_object);
}

}  // namespace

void InstallWrappers(const WrappedFunction* functions, size_t count, const SlotSpace& space,
                     uint32_t first_object) {
  InstallGroup({functions, count, true}, space, first_object);
}

void InstallWrappersInSlots(const WrappedFunction* functions, size_t count, const SlotSpace& space,
                            uint32_t first_object) {
  InstallGroup({functions, count, false}, space, first_object);
}

void InstallWrappersAgain(const SlotSpace& space, uint32_t first_object) {
  for (uint32_t i = 0; i < group_count; ++i) Install(groups[i], space, first_object);
}

uint64_t WrapperOf(uint64_t real) {
  for (uint32_t g = 0; g < group_count; ++g) {
    for (size_t i = 0; i < groups[g].count; ++i) {
      const WrappedFunction& function = groups[g].functions[i];
      if (*function.real == real) return function.wrapper;
    }
  }
  return real;
}

uint64_t RealOf(uint64_t address) {
  const uint64_t stubs = StubOf(0);
  const uint64_t sampling_stubs = SamplingStubOf(0);
  if (address >= stubs && address < StubOf(kThunkCount)) {
    address = TargetOfThunk(static_cast<uint32_t>((address - stubs) / FIELDCOST_STUB_BYTES));
  } else if (address >= sampling_stubs && address < SamplingStubOf(kSamplingStubCount)) {
    address = TargetOfThunk(
        static_cast<uint32_t>((address - sampling_stubs) / FIELDCOST_SAMPLING_STUB_BYTES));
  }
  for (uint32_t g = 0; g < group_count; ++g) {
    for (size_t i = 0; i < groups[g].count; ++i) {
      if (groups[g].functions[i].wrapper == address) return *groups[g].functions[i].real;
    }
  }
  return address;
}

uint64_t TargetOf(const SlotSpace& space, const ElfObject& importer, const Elf64_Rela& relocation,
                  const uint64_t* slot) {
  // A slot with something of ours in it is bound.
  return RealOf(ResolveSlot(space, importer, relocation, slot));
}

}  // namespace fieldcost::intercept

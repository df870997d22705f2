#include "agent/intercept/wrappers.h"

#include <string.h>

#include "agent/intercept/address_words.h"
#include "agent/intercept/thunk.h"

namespace fieldcost::intercept {
namespace {

struct Group {
  const WrappedFunction* functions;
  size_t count;
  bool words_too;
};
constexpr uint32_t kMaxGroups = 8;
constexpr size_t kMaxFunctions = 255;  // per group
Group groups[kMaxGroups];
uint32_t group_count;

// A group's functions by name; every slot of the program is looked up.
class Names {
 public:
  explicit Names(const Group& group) : group_(group) {
    for (size_t i = 0; i < group.count; ++i) {
      const char* const name = group.functions[i].name;
      const uint8_t beginning = BeginningOf(name);
      beginnings_[beginning / 64] |= uint64_t{1} << (beginning % 64);
      uint8_t* const place = PlaceOf(name);
      if (*place == 0) *place = static_cast<uint8_t>(i + 1);
    }
  }
  // Returns null if no function of the group has this name.
  const WrappedFunction* Find(const char* name) {
    const uint8_t beginning = BeginningOf(name);
    if ((beginnings_[beginning / 64] >> (beginning % 64) & 1) == 0) return nullptr;
    const uint8_t place = *PlaceOf(name);
    return place == 0 ? nullptr : &group_.functions[place - 1];
  }

 private:
  static constexpr uint32_t kPlaces = 1024;
  // Most names differ from all names of the group in their first two letters.
  static uint8_t BeginningOf(const char* name) {
    if (name[0] == '\0') return 0;
    return static_cast<uint8_t>(static_cast<uint8_t>(name[0]) * 31 + static_cast<uint8_t>(name[1]));
  }
  // Returns the place of the name, or the place where it would be stored.
  uint8_t* PlaceOf(const char* name) {
    uint32_t at = HashOfName(name) % kPlaces;
    while (places_[at] != 0 && strcmp(group_.functions[places_[at] - 1].name, name) != 0) {
      at = (at + 1) % kPlaces;
    }
    return &places_[at];
  }

  const Group& group_;
  uint64_t beginnings_[4] = {};
  uint8_t places_[kPlaces] = {};  // number of the function + 1
};

void InstallInSlots(Names& names, const SlotSpace& space, uint32_t first_object) {
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

// The objects that contain a group's functions: libc, and libraries that precede it. A word that
// leads anywhere else leads to none of the functions.
class Providers {
 public:
  Providers(const Group& group, const SlotSpace& space) {
    for (uint32_t i = 0; i < space.object_count; ++i) {
      if (strcmp(space.objects[i].soname, "libc.so.6") == 0) Add(&space.objects[i]);
    }
    for (size_t i = 0; i < group.count; ++i) {
      const uint64_t real = *group.functions[i].real;
      if (real == 0 || Of(real) != nullptr) continue;
      Add(ObjectAt(space.objects, space.object_count, real));
    }
  }
  // Returns null if it is in none of them.
  const ElfObject* Of(uint64_t address) const {
    for (uint32_t i = 0; i < count_; ++i) {
      if (Contains(*objects_[i], address)) return objects_[i];
    }
    return nullptr;
  }

 private:
  static constexpr uint32_t kMost = 4;
  void Add(const ElfObject* object) {
    if (object != nullptr && count_ < kMost) objects_[count_++] = object;
  }

  const ElfObject* objects_[kMost];
  uint32_t count_ = 0;
};

// Returns the group's function whose real function is at `address`; null if none.
const WrappedFunction* FunctionAt(const Group& group, uint64_t address) {
  for (size_t i = 0; i < group.count; ++i) {
    if (*group.functions[i].real == address) return &group.functions[i];
  }
  return nullptr;
}

// The same for a word: a function that no slot leads to is identified by the name that the word is
// bound by.
const WrappedFunction* FunctionOfWord(const Group& group, Names& names, const ElfObject& provider,
                                      const char* name, uint64_t address) {
  if (const WrappedFunction* const known = FunctionAt(group, address)) return known;
  const WrappedFunction* const named = names.Find(name);
  if (named == nullptr || *named->real != 0) return nullptr;
  const Elf64_Sym* const definition = FindExport(provider, name, "");
  if (definition == nullptr || provider.base + definition->st_value != address) return nullptr;
  *named->real = address;
  return named;
}

// Handles the words that relocations of one type fill in. Values that the program has stored since
// it was loaded are left alone: the value must be the real function's.
void InstallInWordsOf(uint32_t type, const Group& group, Names& names, const Providers& providers,
                      const SlotSpace& space, uint32_t first_object) {
  for (uint32_t o = first_object; o < space.object_count; ++o) {
    const ElfObject& object = space.objects[o];
    ForEachWordOf(object, type, [&](const Elf64_Rela& relocation, uint64_t* word) {
      const uint64_t value = __atomic_load_n(word, __ATOMIC_RELAXED);
      const ElfObject* const provider = providers.Of(value);
      if (provider == nullptr) return;
      const char* const name = type == kAddressWord ? NameOf(object, relocation) : "";
      const WrappedFunction* const found = FunctionOfWord(group, names, *provider, name, value);
      if (found != nullptr) ReplaceWord(object, word, value, found->wrapper);
    });
  }
}

// Returns whether code of the object takes the address of a function of the group, and may have
// stored it. (Code that is built to call through such slots has them as well.)
bool TakesAddress(const ElfObject& object, Names& names) {
  for (uint32_t i = object.relative_count; i < object.relocation_count; ++i) {
    const Elf64_Rela& relocation = object.relocations[i];
    if (ELF64_R_TYPE(relocation.r_info) != kDataSlot) continue;
    if (names.Find(NameOf(object, relocation)) != nullptr) return true;
  }
  return false;
}

// Handles words that constructors filled in before ours ran. Words of libc itself are left alone.
void InstallInFilledWords(const Group& group, Names& names, const Providers& providers,
                          const SlotSpace& space, uint32_t first_object) {
  for (uint32_t o = first_object; o < space.object_count; ++o) {
    const ElfObject& object = space.objects[o];
    if (providers.Of(object.begin) != nullptr || !TakesAddress(object, names)) continue;
    ForEachFilledWord(object, [&](uint64_t* word, uint64_t value) {
      if (providers.Of(value) == nullptr) return;
      const WrappedFunction* const found = FunctionAt(group, value);
      if (found != nullptr) ReplaceWord(object, word, value, found->wrapper);
    });
  }
}

void Install(const Group& group, const SlotSpace& space, uint32_t first_object) {
  Names names(group);
  InstallInSlots(names, space, first_object);
  if (!group.words_too) return;
  const Providers providers(group, space);
  InstallInWordsOf(kAddressWord, group, names, providers, space, first_object);
  // Copies come after words: the variables that they are copies of name the functions.
  InstallInWordsOf(kVariableCopy, group, names, providers, space, first_object);
  InstallInFilledWords(group, names, providers, space, first_object);
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
  // A slot that holds one of our addresses is bound.
  return RealOf(ResolveSlot(space, importer, relocation, slot));
}

}  // namespace fieldcost::intercept

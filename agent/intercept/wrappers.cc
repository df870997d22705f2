#include "agent/intercept/wrappers.h"

#include <string.h>

#include "agent/intercept/hooks.h"
#include "agent/intercept/thunk.h"

namespace fieldcost::intercept {
namespace {

struct Group {
  const WrappedFunction* functions;
  size_t count;
};
constexpr uint32_t kMaxGroups = 8;
Group groups[kMaxGroups];
uint32_t group_count;

void InstallGroup(const Group& group, const SlotSpace& space, uint32_t first_object) {
  ForEachSlot(
      space, first_object, true,
      [&group, &space](const ElfObject& object, const Elf64_Rela& relocation, uint64_t* slot) {
        const char* const name = NameOf(object, relocation);
        for (size_t i = 0; i < group.count; ++i) {
          const WrappedFunction& function = group.functions[i];
          if (strcmp(name, function.name) != 0) continue;
          const uint64_t real = TargetOf(space, object, relocation, slot);
          if (real == 0 || !IsDefinition(space.objects, space.object_count, name, real)) {
            break;
          }
          if (*function.real == 0) *function.real = real;
          if (*function.real == real) WriteSlot(object, slot, function.wrapper);
          break;
        }
        return true;
      });
}

}  // namespace

void InstallWrappers(const WrappedFunction* functions, size_t count, const SlotSpace& space,
                     uint32_t first_object) {
  if (group_count == kMaxGroups) return;
  groups[group_count] = {functions, count};
  InstallGroup(groups[group_count++], space, first_object);
}

void InstallWrappersAgain(const SlotSpace& space, uint32_t first_object) {
  for (uint32_t i = 0; i < group_count; ++i) InstallGroup(groups[i], space, first_object);
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

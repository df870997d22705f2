#include "agent/intercept/block_size.h"

#include <elf.h>

#include "agent/intercept/hooks.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/wrappers.h"

namespace fieldcost::intercept {
namespace {

uint64_t real_free;
size_t (*usable_size)(void*);  // null: unknown

void Free(void* block) {
  if (block != nullptr) OnFree(SizeOfBlock(block));
  reinterpret_cast<void (*)(void*)>(real_free)(block);
}

const WrappedFunction kFree[] = {{"free", reinterpret_cast<uint64_t>(&Free), &real_free}};

}  // namespace

void InstallFreeWrapper(const SlotSpace& space) {
  InstallWrappers(kFree, 1, space, 0);
  const ElfObject* const allocator = ObjectAt(space.objects, space.object_count, real_free);
  if (allocator == nullptr) return;
  const Elf64_Sym* const found = FindExport(*allocator, "malloc_usable_size", "");
  if (found == nullptr || ELF64_ST_TYPE(found->st_info) != STT_FUNC) return;
  usable_size = reinterpret_cast<size_t (*)(void*)>(allocator->base + found->st_value);
}

bool KnowsBlockSizes() { return usable_size != nullptr; }

size_t KnownBlockSize(const void* block) { return usable_size(const_cast<void*>(block)); }

}  // namespace fieldcost::intercept

#include "agent/intercept/objects.h"

#include <dlfcn.h>
#include <link.h>

#include "agent/intercept/slots.h"
#include "agent/intercept/tables.h"
#include "agent/intercept/wrappers.h"

namespace fieldcost::intercept {
namespace {

uint32_t object_count;  // changes under the patch lock, read by any thread
uint32_t start_count;   // how many of these stay loaded as long as the program
bool data_slots;

bool IsKnownAddress(uint64_t address) {
  return ObjectAt(tables->objects, object_count, address) != nullptr;
}

bool Add(const ElfObject& object) {
  if (object_count == kMaxObjects || IsKnownAddress(object.begin)) return false;
  tables->objects[object_count] = object;
  tables->objects[object_count].is_dynamic = true;
  __atomic_store_n(&object_count, object_count + 1, __ATOMIC_RELEASE);
  return true;
}

// Adds the objects that this one's calls are bound to; they stay loaded as long as it does.
void AddProvidersOf(const ElfObject& object) {
  ForEachSlotOf(object, true,
                [](const ElfObject& importer, const Elf64_Rela&, const uint64_t* slot) {
                  const uint64_t value = RealOf(__atomic_load_n(slot, __ATOMIC_RELAXED));
                  if (value == 0 || Contains(importer, value) || IsKnownAddress(value)) return true;
                  ElfObject provider;
                  if (ObjectOfAddress(value, &provider)) Add(provider);
                  return true;
                });
}

}  // namespace

void ListObjectsAtStart(bool data_too) {
  object_count = ListObjects(tables->objects, kMaxObjects);
  start_count = CountLasting(tables->objects, object_count);
  for (uint32_t i = start_count; i < object_count; ++i) tables->objects[i].is_dynamic = true;
  data_slots = data_too;
}

SlotSpace Objects(bool may_ask_loader) {
  return {tables->objects, object_count, data_slots, may_ask_loader};
}

bool IsKnownHandle(void* handle) {
  if (handle == RTLD_DEFAULT || handle == RTLD_NEXT) return true;
  const uint64_t base = static_cast<const link_map*>(handle)->l_addr;
  const uint32_t count = __atomic_load_n(&object_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; ++i) {
    if (tables->objects[i].base == base) return true;
  }
  return false;
}

bool AddObjectsOf(void* handle) {
  const uint32_t first_new = object_count;
  const uint32_t added =
      ObjectsOfHandle(handle, IsKnownAddress, tables->objects + first_new, kMaxObjects - first_new);
  for (uint32_t i = first_new; i < first_new + added; ++i) tables->objects[i].is_dynamic = true;
  __atomic_store_n(&object_count, first_new + added, __ATOMIC_RELEASE);
  // Also adds dependencies that are needed by another name, if their functions are already bound.
  for (uint32_t next = first_new; next < object_count; ++next)
    AddProvidersOf(tables->objects[next]);
  return added > 0;
}

bool HasDynamicObjects() { return __atomic_load_n(&object_count, __ATOMIC_RELAXED) > start_count; }

bool IsInDynamicObject(uint64_t address) {
  return ObjectAt(tables->objects + start_count, object_count - start_count, address) != nullptr;
}

bool IsAnyDynamicObjectGone() {
  for (uint32_t i = start_count; i < object_count; ++i) {
    if (!IsLoaded(tables->objects[i])) return true;
  }
  return false;
}

bool IsInThisNamespace(void* handle) { return IsInNamespaceOf(tables->objects[0], handle); }

void RemoveDynamicObjects() {
  ForgetDynamicCalledSlots();
  __atomic_store_n(&object_count, start_count, __ATOMIC_RELEASE);
}

}  // namespace fieldcost::intercept

#include "agent/probe_preload/modules.h"

#include <string.h>

#include "agent/intercept/code_offset.h"
#include "agent/intercept/elf_object.h"
#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/plan_directory.h"
#include "agent/intercept/text.h"
#include "agent/probe_preload/process.h"

namespace fieldcost::probe_preload {
namespace {

using intercept::ElfObject;

shm::ProbeModule known[shm::kProbeModules];
uint32_t known_count;  // may pass what there is room for

void Describe(const ElfObject& object, shm::ProbeModule* module) {
  const char* const path = *object.path == '\0' ? intercept::ProgramPath() : object.path;
  intercept::TextBuilder(module->path, sizeof module->path).Add(path);
  module->build_id_bytes =
      object.build_id_bytes <= sizeof module->build_id ? object.build_id_bytes : 0;
  memcpy(module->build_id, object.build_id, module->build_id_bytes);
  module->base = object.base;
  module->begin = object.begin;
  module->end = object.end;
  module->code_offset = intercept::CodeOffsetOf(object);
  __atomic_store_n(&module->complete, 1, __ATOMIC_RELEASE);
}

void WriteToFile(uint32_t number) {
  auto* const module = InFile<shm::ProbeModule>(shm::ProbeModulesOffset(), number);
  if (!intercept::Populate(reinterpret_cast<uint64_t>(module), sizeof *module)) return;
  shm::ProbeModule copy = known[number];
  copy.complete = 0;
  memcpy(module, &copy, sizeof copy);
  __atomic_store_n(&module->complete, 1, __ATOMIC_RELEASE);
}

}  // namespace

void AddModules(uint32_t first_object) {
  const intercept::SlotSpace space = intercept::Objects(false);
  for (uint32_t i = first_object; i < space.object_count; ++i) {
    const uint32_t number = known_count++;
    if (number >= shm::kProbeModules) continue;
    Describe(space.objects[i], &known[number]);
    if (Attached() != 0) WriteToFile(number);
  }
  if (Attached() != 0) process.header->module_count = known_count;
}

void KeepModules() {
  process.header->module_count = known_count;
  for (uint32_t i = 0; i < known_count && i < shm::kProbeModules; ++i) {
    if (__atomic_load_n(&known[i].complete, __ATOMIC_ACQUIRE) != 0) WriteToFile(i);
  }
}

}  // namespace fieldcost::probe_preload

#include "agent/probe_preload/modules.h"

#include <string.h>

#include "agent/intercept/describe_module.h"
#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/objects.h"
#include "agent/probe_preload/probe_process.h"

namespace fieldcost::probe_preload {
namespace {

shm::ProbeModule known[shm::kProbeModules];
uint32_t known_count;  // may exceed the capacity

void WriteToFile(uint32_t number) {
  auto* const module = process.InFile<shm::ProbeModule>(shm::ProbeModulesOffset(), number);
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
    intercept::DescribeModule(space.objects[i], &known[number]);
    __atomic_store_n(&known[number].complete, 1, __ATOMIC_RELEASE);
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

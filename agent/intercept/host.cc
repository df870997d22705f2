#include "agent/intercept/host.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "agent/intercept/mappings.h"
#include "agent/intercept/objects.h"
#include "agent/intercept/text_builder.h"

namespace fieldcost::intercept {

Host host;
alignas(kPageBytes) uint32_t fieldcost_attached[kPageBytes / sizeof(uint32_t)];

bool KnowHost() {
  host.pid = static_cast<uint32_t>(SystemCall(SYS_getpid));
  host.stack_top = getauxval(AT_RANDOM);
  return madvise(fieldcost_attached, sizeof fieldcost_attached, MADV_WIPEONFORK) == 0;
}

void LookForStackCopier(uint32_t first_object) {
  const SlotSpace space = Objects(false);
  for (uint32_t i = first_object; i < space.object_count; ++i) {
    const char* const name = FileNameOf(space.objects[i].path);
    if (strncmp(name, kStackCopier, sizeof kStackCopier - 1) == 0) host.never_reuse = 1;
  }
}

}  // namespace fieldcost::intercept

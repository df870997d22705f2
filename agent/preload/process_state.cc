#include "agent/preload/process_state.h"

#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::preload {

ProcessState fieldcost_process;
alignas(intercept::kPageBytes) uint32_t fieldcost_attached[1024];

}  // namespace fieldcost::preload

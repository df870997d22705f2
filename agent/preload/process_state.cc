#include "agent/preload/process_state.h"

namespace fieldcost::preload {

ProcessState fieldcost_process;
alignas(4096) uint32_t fieldcost_attached[1024];

}  // namespace fieldcost::preload

#include "agent/preload/process_state.h"

namespace fieldcost::preload {

ProcessState fieldcost_process;

}  // namespace fieldcost::preload

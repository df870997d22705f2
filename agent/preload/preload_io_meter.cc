// Counts bytes that are moved during measured calls.
#include "agent/intercept/hooks.h"
#include "agent/intercept/io_wrappers.h"
#include "agent/preload/measuring.h"

namespace fieldcost::intercept {

void OnTransfer(int from, int to, uint64_t bytes) {
  if (!preload::IsAttached()) return;
  preload::ThreadState* const thread = preload::fieldcost_current_thread;
  if (thread == nullptr || thread->active == nullptr || preload::IsBusy(thread->active)) return;
  CountTransfer(from, to, bytes, thread->io);
}

}  // namespace fieldcost::intercept

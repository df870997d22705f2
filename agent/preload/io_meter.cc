#include "agent/preload/io_meter.h"

#include "agent/intercept/hooks.h"
#include "agent/intercept/io_wrappers.h"
#include "agent/preload/measuring.h"

namespace fieldcost::preload {
namespace {

// Distance from a counter of what came in to that of what went out.
constexpr uint32_t kIn = 0;
constexpr uint32_t kOut = 1;

void Add(ThreadState* thread, int fd, uint32_t direction, uint64_t bytes) {
  switch (intercept::KindOfFile(fd)) {
    case intercept::FileKind::kDisk:
      thread->io[kIoDiskRead + direction] += bytes;
      return;
    case intercept::FileKind::kNet:
      thread->io[kIoNetReceived + direction] += bytes;
      return;
    case intercept::FileKind::kOther:
      return;
  }
}

}  // namespace
}  // namespace fieldcost::preload

namespace fieldcost::intercept {

void OnTransfer(int from, int to, uint64_t bytes) {
  if (!preload::IsAttached()) return;
  preload::ThreadState* const thread = preload::fieldcost_current_thread;
  if (thread == nullptr || thread->active == nullptr || preload::IsBusy(thread->active)) return;
  if (from != kNoFile) preload::Add(thread, from, preload::kIn, bytes);
  if (to != kNoFile) preload::Add(thread, to, preload::kOut, bytes);
}

}  // namespace fieldcost::intercept

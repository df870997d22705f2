// Counts what is moved during measured calls that meter I/O: adds what intercept's wrappers of I/O
// functions tell to the thread's counters `io`.
#include "agent/intercept/hooks.h"
#include "agent/intercept/io_wrappers.h"
#include "agent/preload/measuring.h"

namespace fieldcost::preload {
namespace {

// Indices into ThreadState::io, whose order is that of the metrics kDiskRead .. kNetSent, and the
// distance from what came in to what went out.
constexpr uint32_t kDisk = 0;
constexpr uint32_t kNet = 2;
constexpr uint32_t kIn = 0;
constexpr uint32_t kOut = 1;

void Add(ThreadState* thread, int fd, uint32_t direction, uint64_t bytes) {
  switch (intercept::KindOfFile(fd)) {
    case intercept::FileKind::kDisk:
      thread->io[kDisk + direction] += bytes;
      return;
    case intercept::FileKind::kNet:
      thread->io[kNet + direction] += bytes;
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

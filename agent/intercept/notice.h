#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/thunk.h"
#include "agent/intercept/wrapped_function.h"
#include "agent/intercept/x86_64/machine.h"

namespace fieldcost::intercept {

// Functions whose calls are noticed without measuring them and without changing the caller that
// they see (dlsym inspects its caller):
// - ways into a sandbox (prctl, syscall). Under seccomp our system calls may be fatal, and so may
//   reading the time stamp counter in strict mode or after PR_SET_TSC: a process about to enter is
//   detached first, permanently;
// - dlsym, whose handle identifies objects loaded by dlopen while its owner keeps them loaded; and
//   dlclose, after which they may be gone;
// - functions that wait, but only occasional calls, so that a program that calls no picked function
//   still checks the time. This needs no thread and no signal.
// The user implements the reactions: see hooks.h.
enum NoticeIndex : uint32_t {
  kNoticePrctl,
  kNoticeSyscall,
  kNoticeDlsym,
  kNoticeDlvsym,
  kNoticeDlclose,
  kFirstWaitNotice,
};
inline constexpr uint32_t kNoticeCount = FIELDCOST_NOTICE_COUNT;
static_assert(kFirstWaitNotice == FIELDCOST_RARE_NOTICE_COUNT);

extern "C" __attribute__((visibility("hidden"))) uint64_t fieldcost_notice_targets[kNoticeCount];

// Name, stub and location of the real address, ready for InstallWrappers.
extern const WrappedFunction kNotices[kNoticeCount];

// Called before such a function, with its first two arguments.
void Notice(uint32_t notice, uint64_t first, uint64_t second);

// Implements fieldcost_thunk_enter (thunk.h) for a notice stub: reacts to the call if the
// process is attached, and continues with the function.
inline Entry EnterNotice(uint32_t what, const uint64_t* return_slot, bool is_attached) {
  const uint32_t notice = what & ~kNoticeFlag;
  if (is_attached) Notice(notice, ArgumentAt(return_slot, 0), ArgumentAt(return_slot, 1));
  return {nullptr, fieldcost_notice_targets[notice]};
}

}  // namespace fieldcost::intercept

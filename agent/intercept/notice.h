#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agent/intercept/thunk.h"
#include "agent/intercept/wrapped_function.h"

namespace fieldcost::intercept {

// Functions whose calls we take notice of, without measuring them and without standing between them
// and their caller (dlsym looks at who called it):
// - the ways into a sandbox (prctl, syscall). Under seccomp our system calls may be deadly, and in
//   strict mode, as after PR_SET_TSC, so is reading the time stamp counter: a process that is about
//   to go there is detached first, for good;
// - dlsym, whose handle says which objects dlopen has brought, at a moment when its owner keeps it
//   loaded; and dlclose, after which it may be gone;
// - functions that wait: one in a while, so that a program in which nothing picked is called looks
//   at the time all the same. No thread and no signal is needed for that.
// What is done then is the user's: see hooks.h.
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

// Name, stub and place of the real address, ready for InstallWrappers.
extern const WrappedFunction kNotices[kNoticeCount];

// Called before such a function, with its first two arguments.
void Notice(uint32_t notice, uint64_t first, uint64_t second);

}  // namespace fieldcost::intercept

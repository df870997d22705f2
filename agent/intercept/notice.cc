#include "agent/intercept/notice.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include "agent/intercept/hidden_io.h"
#include "agent/intercept/hooks.h"

namespace fieldcost::intercept {

uint64_t fieldcost_notice_targets[kNoticeCount];

// Number of calls of waiting functions until this thread checks the time again.
extern "C" __attribute__((visibility("hidden"))) __thread int32_t fieldcost_notice_in;
__thread int32_t fieldcost_notice_in;

namespace {

constexpr int32_t kWaitsPerLook = 15;

bool EntersSandbox(uint64_t option) { return option == PR_SET_SECCOMP || option == PR_SET_TSC; }

}  // namespace

#define FIELDCOST_NOTICE(index, name)                        \
  {                                                          \
    name,                                                    \
        reinterpret_cast<uint64_t>(fieldcost_notice_stubs) + \
            uint64_t{index} * FIELDCOST_NOTICE_STUB_BYTES,   \
        &fieldcost_notice_targets[index]                     \
  }

const WrappedFunction kNotices[kNoticeCount] = {
    FIELDCOST_NOTICE(kNoticePrctl, "prctl"),
    FIELDCOST_NOTICE(kNoticeSyscall, "syscall"),
    FIELDCOST_NOTICE(kNoticeDlsym, "dlsym"),
    FIELDCOST_NOTICE(kNoticeDlvsym, "dlvsym"),
    FIELDCOST_NOTICE(kNoticeDlclose, "dlclose"),
    FIELDCOST_NOTICE(5, "poll"),
    FIELDCOST_NOTICE(6, "ppoll"),
    FIELDCOST_NOTICE(7, "select"),
    FIELDCOST_NOTICE(8, "pselect"),
    FIELDCOST_NOTICE(9, "epoll_wait"),
    FIELDCOST_NOTICE(10, "epoll_pwait"),
    FIELDCOST_NOTICE(11, "epoll_pwait2"),
    FIELDCOST_NOTICE(12, "nanosleep"),
    FIELDCOST_NOTICE(13, "clock_nanosleep"),
    FIELDCOST_NOTICE(14, "usleep"),
    FIELDCOST_NOTICE(15, "sleep"),
    FIELDCOST_NOTICE(16, "accept"),
    FIELDCOST_NOTICE(17, "accept4"),
    FIELDCOST_NOTICE(18, "sigtimedwait"),
    FIELDCOST_NOTICE(19, "sigwaitinfo"),
    FIELDCOST_NOTICE(20, "pthread_cond_wait"),
    FIELDCOST_NOTICE(21, "pthread_cond_timedwait"),
    FIELDCOST_NOTICE(22, "pthread_cond_clockwait"),
    FIELDCOST_NOTICE(23, "waitpid"),
};

__attribute__((noinline)) void Notice(uint32_t notice, uint64_t first, uint64_t second) {
  switch (notice) {
    case kNoticePrctl:
      if (EntersSandbox(first)) OnSandbox();
      return;
    case kNoticeSyscall:
      fieldcost_hidden_io |= HiddenBySystemCall(first);
      if (first == SYS_seccomp || (first == SYS_prctl && EntersSandbox(second))) OnSandbox();
      return;
    case kNoticeDlsym:
    case kNoticeDlvsym:
      OnLibraryLoaded(reinterpret_cast<void*>(first));
      return;
    case kNoticeDlclose:
      OnLibraryMayGo();
      return;
    default:
      fieldcost_notice_in = kWaitsPerLook;
      OnWait();
      return;
  }
}

}  // namespace fieldcost::intercept

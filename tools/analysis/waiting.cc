#include "tools/analysis/waiting.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace fieldcost::analysis {
namespace {

// Each ascending.
constexpr std::array<std::string_view, 42> kOfTheCLibrary = {"__poll_chk",
                                                             "__ppoll_chk",
                                                             "accept",
                                                             "accept4",
                                                             "clock_nanosleep",
                                                             "cnd_timedwait",
                                                             "cnd_wait",
                                                             "epoll_pwait",
                                                             "epoll_pwait2",
                                                             "epoll_wait",
                                                             "mq_receive",
                                                             "mq_timedreceive",
                                                             "msgrcv",
                                                             "nanosleep",
                                                             "pause",
                                                             "poll",
                                                             "ppoll",
                                                             "pselect",
                                                             "pthread_barrier_wait",
                                                             "pthread_clockjoin_np",
                                                             "pthread_cond_clockwait",
                                                             "pthread_cond_timedwait",
                                                             "pthread_cond_wait",
                                                             "pthread_join",
                                                             "pthread_timedjoin_np",
                                                             "select",
                                                             "sem_clockwait",
                                                             "sem_timedwait",
                                                             "sem_wait",
                                                             "sigsuspend",
                                                             "sigtimedwait",
                                                             "sigwait",
                                                             "sigwaitinfo",
                                                             "sleep",
                                                             "thrd_join",
                                                             "thrd_sleep",
                                                             "usleep",
                                                             "wait",
                                                             "wait3",
                                                             "wait4",
                                                             "waitid",
                                                             "waitpid"};
constexpr std::array<std::string_view, 9> kOfGlib = {"g_async_queue_pop",
                                                     "g_async_queue_timeout_pop",
                                                     "g_cond_wait",
                                                     "g_cond_wait_until",
                                                     "g_main_context_iteration",
                                                     "g_main_loop_run",
                                                     "g_poll",
                                                     "g_thread_join",
                                                     "g_usleep"};
static_assert(std::ranges::is_sorted(kOfTheCLibrary) && std::ranges::is_sorted(kOfGlib));

}  // namespace

bool IsWaiting(const stats::ApiKey& api) {
  const std::string_view library = api.soname;
  if (library == "libc.so.6" || library == "libpthread.so.0" || library.starts_with("libc.musl-")) {
    return std::ranges::binary_search(kOfTheCLibrary, api.symbol);
  }
  if (library == "libglib-2.0.so.0") return std::ranges::binary_search(kOfGlib, api.symbol);
  return false;
}

}  // namespace fieldcost::analysis

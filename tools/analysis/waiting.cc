#include "tools/analysis/waiting.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "common/names/cxx_name.h"

namespace fieldcost::analysis {
namespace {

// Each list is ascending.
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
// Short C++ names. Namespace std belongs to the C++ library in every module, since its templates
// are instantiated in the programs that use them.
constexpr std::array<std::string_view, 42> kOfCxx = {
    "boost::condition_variable::do_wait_until",
    "boost::condition_variable::wait",
    "boost::condition_variable::wait_for",
    "boost::condition_variable::wait_until",
    "boost::thread::do_try_join_until_noexcept",
    "boost::thread::join",
    "boost::thread::join_noexcept",
    "std::__assoc_sub_state::__sub_wait",
    "std::__assoc_sub_state::wait",
    "std::__assoc_sub_state::wait_for",
    "std::__assoc_sub_state::wait_until",
    "std::__atomic_futex_unsigned_base::_M_futex_wait_until",
    "std::__atomic_futex_unsigned_base::_M_futex_wait_until_steady",
    "std::__basic_future::wait",
    "std::__basic_future::wait_for",
    "std::__basic_future::wait_until",
    "std::__future_base::_State_baseV2::wait",
    "std::__future_base::_State_baseV2::wait_for",
    "std::__future_base::_State_baseV2::wait_until",
    "std::barrier::arrive_and_wait",
    "std::barrier::wait",
    "std::condition_variable::__do_timed_wait",
    "std::condition_variable::__wait_until_impl",
    "std::condition_variable::wait",
    "std::condition_variable::wait_for",
    "std::condition_variable::wait_until",
    "std::condition_variable_any::__wait_until_impl",
    "std::condition_variable_any::wait",
    "std::condition_variable_any::wait_for",
    "std::condition_variable_any::wait_until",
    "std::counting_semaphore::acquire",
    "std::future::get",
    "std::future::wait",
    "std::jthread::join",
    "std::latch::arrive_and_wait",
    "std::latch::wait",
    "std::shared_future::get",
    "std::shared_future::wait",
    "std::this_thread::__sleep_for",
    "std::this_thread::sleep_for",
    "std::this_thread::sleep_until",
    "std::thread::join"};
static_assert(std::ranges::is_sorted(kOfTheCLibrary) && std::ranges::is_sorted(kOfGlib) &&
              std::ranges::is_sorted(kOfCxx));

// Other names cannot be among kOfCxx; they are not demangled.
bool MayBeOfCxx(std::string_view symbol) {
  return symbol.starts_with("_ZNSt") || symbol.starts_with("_ZNKSt") ||
         symbol.starts_with("_ZN5boost");
}

bool IsWaitingInCxx(std::string_view symbol) {
  if (!MayBeOfCxx(symbol)) return false;
  constexpr std::string_view kVersion = "std::_V2::";  // libstdc++'s inline namespace
  std::string name = names::ShortName(symbol);
  if (name.starts_with(kVersion)) name.erase(5, kVersion.size() - 5);
  return std::ranges::binary_search(kOfCxx, name);
}

}  // namespace

bool IsWaiting(const stats::ApiKey& api) {
  const std::string_view library = api.soname;
  if (library == "libc.so.6" || library == "libpthread.so.0" || library.starts_with("libc.musl-")) {
    return std::ranges::binary_search(kOfTheCLibrary, api.symbol);
  }
  if (library == "libglib-2.0.so.0") return std::ranges::binary_search(kOfGlib, api.symbol);
  return IsWaitingInCxx(api.symbol);
}

}  // namespace fieldcost::analysis

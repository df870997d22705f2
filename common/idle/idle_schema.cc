#include "common/idle/idle_schema.h"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <utility>

#include "common/base/text.h"
#include "common/recording/recording_limits.h"

namespace fieldcost::idle {
namespace {

constexpr std::array<const char*, kWhys> kFrameNames = {
    "[lock]",       "[events]",        "[sleep]",     "[I/O]",   "[child]",
    "[signal]",     "[fault]",         "[preempted]", "[ended]", "[other call]",
    "[moved away]", "[not monitored]", "[lost]"};

constexpr std::string_view kCpuName = "[CPU ";

constexpr std::array<std::pair<std::int64_t, Why>, 60> kCalls = {{
    {SYS_futex, Why::kLock},
    {449 /* futex_waitv */, Why::kLock},
    {455 /* futex_wait */, Why::kLock},
    {SYS_semop, Why::kLock},
    {SYS_semtimedop, Why::kLock},
    {SYS_flock, Why::kLock},
    {SYS_poll, Why::kEvents},
    {SYS_ppoll, Why::kEvents},
    {SYS_select, Why::kEvents},
    {SYS_pselect6, Why::kEvents},
    {SYS_epoll_wait, Why::kEvents},
    {SYS_epoll_pwait, Why::kEvents},
    {441 /* epoll_pwait2 */, Why::kEvents},
    {SYS_io_getevents, Why::kEvents},
    {333 /* io_pgetevents */, Why::kEvents},
    {426 /* io_uring_enter */, Why::kEvents},
    {SYS_mq_timedreceive, Why::kEvents},
    {SYS_msgrcv, Why::kEvents},
    {SYS_nanosleep, Why::kSleep},
    {SYS_clock_nanosleep, Why::kSleep},
    {SYS_pause, Why::kSignal},
    {SYS_rt_sigsuspend, Why::kSignal},
    {SYS_rt_sigtimedwait, Why::kSignal},
    {SYS_wait4, Why::kChild},
    {SYS_waitid, Why::kChild},
    {SYS_vfork, Why::kChild},
    {SYS_read, Why::kIo},
    {SYS_write, Why::kIo},
    {SYS_pread64, Why::kIo},
    {SYS_pwrite64, Why::kIo},
    {SYS_readv, Why::kIo},
    {SYS_writev, Why::kIo},
    {SYS_preadv, Why::kIo},
    {SYS_pwritev, Why::kIo},
    {SYS_preadv2, Why::kIo},
    {SYS_pwritev2, Why::kIo},
    {SYS_recvfrom, Why::kIo},
    {SYS_recvmsg, Why::kIo},
    {SYS_recvmmsg, Why::kIo},
    {SYS_sendto, Why::kIo},
    {SYS_sendmsg, Why::kIo},
    {SYS_sendmmsg, Why::kIo},
    {SYS_sendfile, Why::kIo},
    {SYS_splice, Why::kIo},
    {SYS_tee, Why::kIo},
    {SYS_copy_file_range, Why::kIo},
    {SYS_accept, Why::kIo},
    {SYS_accept4, Why::kIo},
    {SYS_connect, Why::kIo},
    {SYS_fsync, Why::kIo},
    {SYS_fdatasync, Why::kIo},
    {SYS_sync, Why::kIo},
    {SYS_syncfs, Why::kIo},
    {SYS_sync_file_range, Why::kIo},
    {SYS_msync, Why::kIo},
    {SYS_open, Why::kIo},
    {SYS_openat, Why::kIo},
    {SYS_getdents64, Why::kIo},
    {SYS_exit, Why::kEnded},
    {SYS_exit_group, Why::kEnded},
}};

struct ModeName {
  Mode mode;
  std::string_view name;
};
constexpr std::array<ModeName, 4> kModes = {{{Mode::kBpf, "bpf"},
                                             {Mode::kUnprivileged, "unprivileged"},
                                             {Mode::kCandidates, "unprivileged~"},
                                             {Mode::kLiteral, "literal"}}};

// Removes "KEY=VALUE " from the beginning and returns the value.
std::optional<std::string_view> TakeValue(std::string_view& text, std::string_view key) {
  if (!text.starts_with(key)) return std::nullopt;
  text.remove_prefix(key.size());
  const std::size_t blank = std::min(text.find(' '), text.size());
  const std::string_view value = text.substr(0, blank);
  text.remove_prefix(std::min(blank + 1, text.size()));
  return value;
}

}  // namespace

bool IsIdleMetric(std::string_view name) {
  constexpr std::array<std::string_view, 8> kAll = {
      kToIdle, kToIdleTicks, kFromIdle, kFromIdleTicks, kPairs, kPairTicks, kCpuIdle, kStatIdle};
  return std::ranges::find(kAll, name) != kAll.end();
}

const char* FrameName(Why why) { return kFrameNames.at(static_cast<std::size_t>(why)); }

std::optional<Why> WhyOf(std::string_view untrusted_frame_name) {
  const auto found = std::ranges::find(kFrameNames, untrusted_frame_name);
  if (found == kFrameNames.end()) return std::nullopt;
  return static_cast<Why>(found - kFrameNames.begin());
}

bool HasStack(Why why) { return why < Why::kMovedAway; }

Why WhyOfSystemCall(std::int64_t number) {
  if (number < 0) return Why::kFault;
  const auto found = std::ranges::find(kCalls, number, &std::pair<std::int64_t, Why>::first);
  return found == kCalls.end() ? Why::kOtherCall : found->second;
}

tree::Frame CpuFrame(std::uint32_t cpu) {
  return tree::SpecialFrame(fmt::format("{}{}]", kCpuName, cpu));
}

std::optional<std::uint32_t> CpuOf(const tree::Frame& untrusted_frame) {
  std::string_view name = untrusted_frame.function;
  if (untrusted_frame.kind != tree::FrameKind::kSpecial || !name.starts_with(kCpuName) ||
      !name.ends_with(']'))
    return std::nullopt;
  name.remove_prefix(kCpuName.size());
  name.remove_suffix(1);
  const auto cpu = ParseUint64(name);
  if (!cpu || *cpu > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*cpu);
}

std::string_view Name(Mode mode) { return std::ranges::find(kModes, mode, &ModeName::mode)->name; }

std::string EncodeAbout(const About& about) {
  std::string text = fmt::format("mode={} tick_ns={} why={}", Name(about.mode), about.tick_ns,
                                 EscapeControl(about.why));
  text.resize(std::min(text.size(), recording::kMaxNameBytes));
  return text;
}

std::optional<About> ParseAbout(std::string_view untrusted_text) {
  const auto mode = TakeValue(untrusted_text, "mode=");
  const auto tick = mode ? TakeValue(untrusted_text, "tick_ns=") : std::nullopt;
  if (!tick || !untrusted_text.starts_with("why=")) return std::nullopt;
  const auto known = std::ranges::find(kModes, *mode, &ModeName::name);
  const auto tick_ns = ParseUint64(*tick);
  if (known == kModes.end() || !tick_ns) return std::nullopt;
  return About{
      .mode = known->mode, .tick_ns = *tick_ns, .why = std::string(untrusted_text.substr(4))};
}

}  // namespace fieldcost::idle

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/recording/descriptions.h"
#include "common/tree/frame.h"

namespace fieldcost::idle {

// The content of a recording of idle CPUs (README.md). A period begins when a CPU has nothing to
// run. It ends when the CPU has, or when the thread that left it idle runs elsewhere. Each stream
// has one sample per period, at its end, except kCpuIdle: there, long periods are divided, so that
// charts over time are correct. Pure functions.

// Metrics: ns, and the number of ticks in that time.
inline constexpr char kToIdle[] = "to-idle";  // by the stack that left the CPU idle
inline constexpr char kToIdleTicks[] = "to-idle-ticks";
inline constexpr char kFromIdle[] = "from-idle";  // by the stack that resumed next
inline constexpr char kFromIdleTicks[] = "from-idle-ticks";
inline constexpr char kPairs[] = "idle-pairs";  // by both (pair_path.h)
inline constexpr char kPairTicks[] = "idle-pair-ticks";
inline constexpr char kCpuIdle[] = "cpu-idle";    // by CPU and reason: CpuFrame(), FrameName(why)
inline constexpr char kStatIdle[] = "stat-idle";  // by CpuFrame(): idle and iowait of /proc/stat

// Whether the name is one of those above.
bool IsIdleMetric(std::string_view name);

// Why a CPU was idle: what the thread that left it idle was doing, or why no such thread is known.
// Files contain the frames, not the numbers.
enum class Why : std::uint8_t {
  kLock,          // waited for a lock (futex)
  kEvents,        // waited for any of several events (poll, epoll_wait, select, ...)
  kSleep,         // slept for a time
  kIo,            // read, wrote, or waited for a disk or peer
  kChild,         // waited for a process
  kSignal,        // waited for a signal
  kFault,         // waited for a page fault
  kPreempted,     // was runnable, and was migrated
  kEnded,         // exited
  kOtherCall,     // another system call
  kMovedAway,     // the thread that left it idle has run elsewhere since
  kNotMonitored,  // no monitored thread had run there
  kLost,          // unknown: the event or stack was lost
};
inline constexpr std::size_t kWhys = 13;

// "[lock]", "[moved away]".
const char* FrameName(Why why);
// nullopt: no such name.
std::optional<Why> WhyOf(std::string_view untrusted_frame_name);
// Whether it has a stack, and is therefore the last frame of a to-idle stack.
bool HasStack(Why why);

// Returns the reason for an x86-64 Linux system call, by its number; negative: not a system call.
Why WhyOfSystemCall(std::int64_t number);

// "[CPU 3]".
tree::Frame CpuFrame(std::uint32_t cpu);
std::optional<std::uint32_t> CpuOf(const tree::Frame& untrusted_frame);

enum class Mode : std::uint8_t { kBpf, kUnprivileged, kCandidates, kLiteral };
// Returns "bpf", "unprivileged", "unprivileged~" (kCandidates: the thread that left a CPU idle is a
// guess), or "literal".
std::string_view Name(Mode mode);

// How it was recorded, encoded in the name of the stream of kCpuIdle. Printable text.
struct About {
  Mode mode = Mode::kBpf;
  std::uint64_t tick_ns = 0;
  std::string why;  // one line for display: why this mode was chosen
  bool operator==(const About&) const = default;
};
// "mode=bpf tick_ns=2003003 why=..."; truncated if too long.
std::string EncodeAbout(const About& about);
std::optional<About> ParseAbout(std::string_view untrusted_text);

}  // namespace fieldcost::idle

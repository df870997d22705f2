#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/recording/descriptions.h"
#include "common/tree/frame.h"

namespace fieldcost::idle {

// What a recording of idle CPUs has (README.md). A period is the time from the instant at which a
// CPU had nothing to do to the one at which it had, or at which the thread that had left it idle
// ran elsewhere. Each stream has one sample a period, at its end, but kCpuIdle: there long ones are
// divided, so that a picture over time is right. Pure functions.

// Metrics: ns, and where idle time was looked at in ticks, how many fell into it.
inline constexpr char kToIdle[] = "to-idle";  // by the stack that left the CPU idle
inline constexpr char kToIdleTicks[] = "to-idle-ticks";
inline constexpr char kFromIdle[] = "from-idle";  // by the stack that went on then
inline constexpr char kFromIdleTicks[] = "from-idle-ticks";
inline constexpr char kPairs[] = "idle-pairs";  // by both (pair_path.h)
inline constexpr char kPairTicks[] = "idle-pair-ticks";
inline constexpr char kCpuIdle[] = "cpu-idle";    // by CPU and why: paths of CpuFrame(), Frame(why)
inline constexpr char kStatIdle[] = "stat-idle";  // by CpuFrame(): idle and iowait of /proc/stat

// One of those.
bool IsIdleMetric(std::string_view name);

// Why a CPU was idle: what the thread did that left it so, or why no such thread is known. Numbers
// are not in files; frames are.
enum class Why : std::uint8_t {
  kLock,          // waited for a lock (futex)
  kEvents,        // waited for any of several events (poll, epoll_wait, select, ...)
  kSleep,         // slept for a time
  kIo,            // read, wrote, or waited for a disk or peer
  kChild,         // waited for a process
  kSignal,        // waited for a signal
  kFault,         // memory was to be fetched
  kPreempted,     // wanted to run on, and was taken elsewhere
  kEnded,         // there was no thread any more
  kOtherCall,     // another system call
  kMovedAway,     // the thread that had left it so ran elsewhere meanwhile
  kNotMonitored,  // no thread that is monitored had run there
  kLost,          // it is not known: what told of it was lost
};
inline constexpr std::size_t kWhys = 13;

// "[lock]", "[moved away]".
const char* FrameName(Why why);
// nullopt: it is no such name.
std::optional<Why> WhyOf(std::string_view untrusted_frame_name);
// Whether a stack goes with it: what the last frame of a to-idle stack says.
bool HasStack(Why why);

// By the number of a system call of x86-64 Linux; negative: of none.
Why WhyOfSystemCall(std::int64_t number);

// "[CPU 3]".
tree::Frame CpuFrame(std::uint32_t cpu);
std::optional<std::uint32_t> CpuOf(const tree::Frame& untrusted_frame);

enum class Mode : std::uint8_t { kBpf, kUnprivileged, kCandidates, kLiteral };
// "bpf", "unprivileged", "unprivileged~" (kCandidates: which thread left a CPU idle is a guess),
// "literal".
std::string_view Name(Mode mode);

// How it was recorded: the name of the stream that has kCpuIdle. Text of both is printable.
struct About {
  Mode mode = Mode::kBpf;
  std::uint64_t tick_ns = 0;
  std::string why;  // this mode: a line, for people
  bool operator==(const About&) const = default;
};
// "mode=bpf tick_ns=2003003 why=..."; cut if it is too long.
std::string EncodeAbout(const About& about);
std::optional<About> ParseAbout(std::string_view untrusted_text);

}  // namespace fieldcost::idle

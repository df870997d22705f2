#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/idle/schema.h"
#include "common/recording/recording.h"
#include "common/tree/dictionary.h"

namespace fieldcost::analysis {

// Why CPUs were idle and who ended that, of a recording of it (common/idle/README.md). All sums are
// exact ns. Pure functions. The recording is untrusted: what the schema does not know is counted as
// unknown, never left out.

// Beside those of idle::Why: a reason that this version has no name for.
inline constexpr std::size_t kUnknownWhy = idle::kWhys;

struct CpuIdle {
  std::uint32_t cpu = 0;
  std::uint64_t idle_ns = 0;       // of all reasons
  std::uint64_t explained_ns = 0;  // of those that a stack goes with
  std::array<std::uint64_t, idle::kWhys + 1> by_why{};
  std::optional<std::uint64_t> stat_idle_ns;  // what /proc/stat said, if it was read
};

// How many periods were of so much time: slots of common/shm/log2_bucket.h.
struct LengthCount {
  unsigned slot = 0;
  std::uint64_t count = 0;
  bool operator==(const LengthCount&) const = default;
};

// All periods of one pair of stacks and one waker.
struct IdlePair {
  tree::PathId path;  // idle::SplitPair() has its parts
  std::uint64_t ns = 0;
  std::uint64_t ticks = 0;
  std::uint64_t periods = 0;         // 0 if all of them end later
  std::vector<LengthCount> lengths;  // ascending, none 0
};

struct IdleView {
  std::shared_ptr<const tree::Dictionary> dictionary;
  idle::About about;
  std::vector<CpuIdle> cpus;    // ascending
  CpuIdle all;                  // of all CPUs, and of what no CPU was told of
  std::uint64_t no_cpu_ns = 0;  // of that
  IdlePair all_pairs;           // of the root: their sums
  std::vector<IdlePair> pairs;  // the greatest first, equal ones by path
};

// How it was recorded; nullopt if it is no recording of idle CPUs.
std::optional<idle::About> IdleAbout(const recording::Recording& recording);

// Adds up these parts of the recording's time. Nanoseconds are those that pass in the parts. A
// period, its whole length and its ticks count in the part in which it ends. kInvalidArgument if
// the recording has no idle time; kTooLarge if a sum exceeds 64 bits; errors of Recording.
Result<IdleView> MakeIdleView(const recording::Recording& recording,
                              std::span<const recording::Interval> parts);

// What a path of cpu-idle says.
struct CpuWhy {
  std::optional<std::uint32_t> cpu;
  std::size_t why = kUnknownWhy;
};
CpuWhy CpuWhyOf(const tree::Dictionary& dictionary, tree::PathId path);

// "lock", "not monitored", "unknown": of CpuIdle::by_why.
std::string WhyText(std::size_t why);

// A part of a pair in short: who did what.
struct Doing {
  // The innermost function with a name that is not the C library's or of a runtime that waits for
  // others; if there is none, such a one without a name; if there is none, the innermost.
  std::optional<tree::FrameId> who;
  // The remark at the end: why it had waited, or who it was if no function is known.
  std::optional<tree::FrameId> what;
  auto operator<=>(const Doing&) const = default;
};
Doing DoingOf(const tree::Dictionary& dictionary, std::span<const tree::FrameId> part);
// "lock: app!Queue::Take()", "app!Unlock()", "[interrupt]", "" if nothing is known; not escaped.
std::string DoingText(const tree::Dictionary& dictionary, const Doing& doing);

}  // namespace fieldcost::analysis

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/idle/idle_schema.h"
#include "common/recording/recording.h"
#include "common/tree/tree_dictionary.h"

namespace fieldcost::analysis {

// Why CPUs were idle and what ended the idle periods, from a recording (common/idle/README.md). All
// sums are exact ns. Pure functions. The recording is untrusted: anything outside the schema counts
// as unknown and is never dropped.

// In addition to idle::Why: a reason that this version does not know.
inline constexpr std::size_t kUnknownWhy = idle::kWhys;

struct CpuIdle {
  std::uint32_t cpu = 0;
  std::uint64_t idle_ns = 0;       // for all reasons
  std::uint64_t explained_ns = 0;  // for reasons with a stack
  std::array<std::uint64_t, idle::kWhys + 1> by_why{};
  std::optional<std::uint64_t> stat_idle_ns;  // according to /proc/stat, if it was read
};

// The number of periods by length: slots of common/shm/log2_bucket.h.
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
  std::uint64_t periods = 0;         // 0 if all of them end after the selected parts
  std::vector<LengthCount> lengths;  // ascending, none 0
};

struct IdleView {
  std::shared_ptr<const tree::Dictionary> dictionary;
  idle::About about;
  std::vector<CpuIdle> cpus;    // ascending
  CpuIdle all;                  // all CPUs, including time without a CPU
  std::uint64_t no_cpu_ns = 0;  // time without a CPU
  IdlePair all_pairs;           // the root: sums over all pairs
  std::vector<IdlePair> pairs;  // the greatest first, ties by path
};

// How the data was recorded; nullopt if this is not a recording of idle CPUs.
std::optional<idle::About> IdleAbout(const recording::Recording& recording);

// Adds up these parts of the recording's time. Idle time counts as far as it falls in the parts. A
// period, its full length and its ticks count in the part in which it ends. kInvalidArgument if
// the recording has no idle time; kTooLarge if a sum exceeds 64 bits; errors of Recording.
Result<IdleView> MakeIdleView(const recording::Recording& recording,
                              std::span<const recording::Interval> parts);

// The information in a path of cpu-idle.
struct CpuWhy {
  std::optional<std::uint32_t> cpu;
  std::size_t why = kUnknownWhy;
};
CpuWhy CpuWhyOf(const tree::Dictionary& dictionary, tree::PathId path);

// "lock", "not monitored", "unknown": the reason for an index of CpuIdle::by_why.
std::string WhyText(std::size_t why);

// One side of a pair in short: the function and what it did.
struct Doing {
  // The innermost named function outside the C library and outside runtimes that wait for others;
  // failing that, an unnamed one outside them; failing that, the innermost.
  std::optional<tree::FrameId> who;
  // The remark at the end: why it waited, or its thread if no function is known.
  std::optional<tree::FrameId> what;
  auto operator<=>(const Doing&) const = default;
};
Doing DoingOf(const tree::Dictionary& dictionary, std::span<const tree::FrameId> part);
// "lock: app!Queue::Take()", "app!Unlock()", "[interrupt]", "" if nothing is known; not escaped.
std::string DoingText(const tree::Dictionary& dictionary, const Doing& doing);

}  // namespace fieldcost::analysis
